#include <cstdio>
#include <memory>

#include "base/result.h"
#include "cli.h"
#include "generate_options.h"
#include "generation_json.h"
#include "io/json_writer.h"
#include "line_sink.h"
#include "row_error.h"
#include "stream_output.h"
#include "text_input.h"
#include "text_options.h"

namespace lattice::cli {
namespace {

struct GenerateVerb {
  ModelArguments model;
  GenerateArguments generate;
  TextInputArguments input;
  LineOutputArguments output;
  std::string prompt;
  std::string prompt_file;
  std::string on_error = "fail";
  std::size_t logprobs = 0;
  std::size_t parallel = 4;
  bool json = false;
};

std::string json_line(std::size_t index, const Generation& row) {
  JsonWriter json;
  json.begin_object().field("index", index);
  if (row.error) {
    add_row_error(json, *row.error);
  } else {
    add_generation(json, row);
  }
  json.end_object();
  return json.take() + "\n";
}

std::string table_line(std::size_t index, const Generation& row) {
  if (row.error) return fmt::format("{:>6}  error: {}\n", index, row.error->message);
  return fmt::format("{:>6}  {:>9}  {}\n", index, finish_reason_name(row.finish_reason),
                     first_line(row.text));
}

/// Many prompts: some rows at a time, generated together, written in order.
class GenerateRun {
 public:
  GenerateRun(const GenerateVerb& verb, const Model& model, const GenerateOptions& options)
      : verb_(verb),
        model_(model),
        options_(options),
        line_(writes_table(verb.output) ? table_line : json_line),
        lines_(open_lines(verb.output, "lattice generate\nmodel " + model.info().directory)) {}

  int run() {
    TextInput input(verb_.input);
    while (auto row = input.next()) {
      if (row->has_value()) prompts_.push_back((*row)->text);
      errors_.push_back(row->has_value() ? std::nullopt : std::optional(row->error()));
      if (errors_.size() == verb_.parallel) write_rows();
    }
    write_rows();
    lines_->finish();
    return failed_ ? kFailure : kSuccess;
  }

 private:
  void write_rows() {
    std::vector<Generation> generated = model_.generate_batch(prompts_, options_);
    std::size_t next = 0;
    for (const std::optional<Error>& bad_row : errors_) {
      Generation row;
      if (bad_row) {
        row.error = bad_row;
      } else {
        row = std::move(generated[next++]);
      }
      if (row.error && verb_.on_error == "fail") {
        lines_->flush();
        raise_row_error(next_index_, *row.error);
      }
      failed_ = failed_ || row.error.has_value();
      lines_->write(line_(next_index_++, row));
    }
    lines_->flush();
    prompts_.clear();
    errors_.clear();
  }

  const GenerateVerb& verb_;
  const Model& model_;
  const GenerateOptions& options_;
  decltype(&json_line) line_;
  std::unique_ptr<LineSink> lines_;
  std::vector<std::string> prompts_;          ///< of the rows without an error
  std::vector<std::optional<Error>> errors_;  ///< of every row
  std::size_t next_index_ = 0;
  bool failed_ = false;
};

// One prompt: its text as it comes, or one JSON object.
void generate_one(const GenerateVerb& verb, const Model& model, const GenerateOptions& options) {
  const std::string prompt =
      verb.prompt_file.empty() ? verb.prompt : read_whole_text(verb.prompt_file);
  if (verb.json) {
    const Generation generation = model.generate(prompt, options);
    JsonWriter json;
    json.begin_object();
    add_generation(json, generation);
    json.end_object();
    const std::unique_ptr<LineSink> lines = open_stdout_lines();
    lines->write(json.take() + "\n");
    lines->finish();
    return;
  }
  StreamOutput out;
  const Generation generation =
      model.generate(prompt, options, [&](std::string_view piece) { return out.write(piece); });
  out.write("\n");
  if (!verb.model.quiet) {
    std::fprintf(stderr, "%s\n", timings_line(generation).c_str());
  }
}

void run_generate(const GenerateVerb& arguments, const CLI::App& verb) {
  const bool rows = !arguments.input.file.empty() || !arguments.input.texts.empty();
  const int given = static_cast<int>(rows) + static_cast<int>(verb.count("--prompt") > 0) +
                    static_cast<int>(verb.count("--prompt-file") > 0);
  if (given != 1) {
    throw UsageError("expected one of --prompt, --prompt-file, --input or TEXT arguments");
  }
  if (!rows && (verb.count("--output") > 0 || verb.count("--format") > 0)) {
    throw UsageError("--output and --format go with --input or TEXT arguments");
  }
  const Model model = load_model(arguments.model);
  // Greedy unless asked: the model's own sampling defaults are for chat.
  GenerateOptions options = generate_options(arguments.generate, verb, {});
  if (verb.count("--logprobs") > 0) options.logprobs = arguments.logprobs;
  if (!rows) return generate_one(arguments, model, options);
  options.skip_errors = true;  // the verb reports them, row by row
  const int code = GenerateRun(arguments, model, options).run();
  if (code != kSuccess) throw ExitCode{code};
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("generate", "Continue a raw prompt (no chat template)");
  auto arguments = std::make_shared<GenerateVerb>();
  add_model_arguments(*verb, arguments->model);
  verb->add_option("--prompt", arguments->prompt, "The prompt");
  verb->add_option("--prompt-file", arguments->prompt_file,
                   "A file that holds the prompt, - for standard input");
  add_text_input(*verb, arguments->input);
  add_generate_options(*verb, arguments->generate);
  verb->add_option("--logprobs", arguments->logprobs,
                   "Log probabilities of each token and of the N likeliest, in JSON")
      ->check(CLI::Range(0, 100));
  verb->add_flag("--json", arguments->json, "One JSON object instead of the text as it comes");
  verb->add_option("--parallel", arguments->parallel, "Rows of --input generated together")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  verb->add_option("--on-error", arguments->on_error, "What a bad row does: fail or skip")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str();
  add_line_output(*verb, arguments->output);
  verb->footer(
      "Example:\n  lattice generate -m MODEL --prompt \"The capital of France is\" --max-tokens "
      "20\n"
      "  lattice generate -m MODEL --input prompts.jsonl --output texts.jsonl");
  verb->callback([arguments, verb] { run_generate(*arguments, *verb); });
}

}  // namespace lattice::cli
