#include <memory>

#include "base/result.h"
#include "cli.h"
#include "device_report.h"
#include "io/json_writer.h"
#include "line_sink.h"
#include "progress.h"
#include "row_error.h"
#include "text_input.h"
#include "text_options.h"

namespace lattice::cli {
namespace {

struct ClassifyArguments {
  ModelArguments model;
  TextInputArguments input;
  LineOutputArguments output;
  std::vector<std::string> pair;
  std::string truncate = "error";
  std::string on_error = "fail";
  std::size_t max_length = 0;
  std::size_t batch_tokens = ClassifyOptions{}.batch_tokens;
  bool raw = false;
};

ClassifyOptions classify_options(const ClassifyArguments& arguments, const CLI::App& verb) {
  ClassifyOptions options;
  options.truncate = parse_truncate(arguments.truncate);
  if (verb.count("--max-length") > 0) options.max_length = arguments.max_length;
  options.raw = arguments.raw;
  options.batch_tokens = arguments.batch_tokens;
  options.skip_errors = true;  // the verb reports them, row by row
  return options;
}

std::string json_line(std::size_t index, const Classifications& rows, std::size_t i,
                      const std::optional<Error>& error) {
  JsonWriter json;
  json.begin_object().field("index", index);
  if (error) {
    add_row_error(json, *error);
  } else {
    json.field("tokens", rows.report(i).num_tokens).field("truncated", rows.report(i).truncated);
    add_other_device(json, rows.report(i).other_device);
    json.key("labels").begin_array();
    for (const std::string& label : rows.labels()) json.value(label);
    json.end_array().key("scores").begin_array();
    for (const float score : rows.scores(i)) json.value(score);
    json.end_array().key("logits").begin_array();
    for (const float logit : rows.logits(i)) json.value(logit);
    json.end_array();
  }
  json.end_object();
  return json.take() + "\n";
}

std::string table_line(std::size_t index, const Classifications& rows, std::size_t i,
                       const std::optional<Error>& error) {
  if (error) return fmt::format("{:>6}  error: {}\n", index, error->message);
  std::string line = fmt::format("{:>6}", index);
  for (std::size_t label = 0; label < rows.labels().size(); ++label) {
    line += fmt::format("  {} {:.4f}", rows.labels()[label], rows.scores(i)[label]);
  }
  if (rows.report(i).truncated) line += "  (truncated)";
  return line + other_device_note(rows.report(i).other_device) + "\n";
}

/// Reads rows in chunks, classifies each chunk at once and writes it in order.
class ClassifyRun {
 public:
  ClassifyRun(const ClassifyArguments& arguments, const Model& model,
              const ClassifyOptions& options)
      : arguments_(arguments),
        model_(model),
        options_(options),
        format_(writes_table(arguments.output) ? table_line : json_line),
        lines_(open_lines(arguments.output, "lattice classify\nmodel " + model.info().directory)),
        progress_(arguments.model.quiet) {}

  int run() {
    if (!arguments_.pair.empty()) {
      write_chunk({.texts = {{arguments_.pair[0], arguments_.pair[1]}}, .errors = {std::nullopt}});
    } else {
      TextInput input(arguments_.input);
      TextChunk chunk;
      while (read_chunk(input, chunk)) write_chunk(chunk);
    }
    lines_->finish();
    return failed_ ? kFailure : kSuccess;
  }

 private:
  void write_chunk(const TextChunk& chunk) {
    const Classifications rows = model_.classify(chunk.texts, options_);
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::optional<Error>& error = chunk.errors[i] ? chunk.errors[i] : rows.report(i).error;
      if (error && arguments_.on_error == "fail") {
        lines_->flush();
        raise_row_error(next_index_, *error);
      }
      failed_ = failed_ || error.has_value();
      lines_->write(format_(next_index_++, rows, i, error));
      tokens += rows.report(i).num_tokens;
    }
    lines_->flush();
    progress_.advance(rows.size(), tokens);
  }

  const ClassifyArguments& arguments_;
  const Model& model_;
  const ClassifyOptions& options_;
  std::string (*format_)(std::size_t, const Classifications&, std::size_t,
                         const std::optional<Error>&);
  std::unique_ptr<LineSink> lines_;
  Progress progress_;
  std::size_t next_index_ = 0;
  bool failed_ = false;
};

void run_classify(const ClassifyArguments& arguments, const CLI::App& verb) {
  if (!arguments.pair.empty() &&
      (!arguments.input.texts.empty() || !arguments.input.file.empty())) {
    throw UsageError("--pair excludes other texts and --input");
  }
  const ClassifyOptions options = classify_options(arguments, verb);
  const Model model = load_model(arguments.model);
  const int code = ClassifyRun(arguments, model, options).run();
  if (code != kSuccess) throw ExitCode{code};
}

}  // namespace

void add_classify(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("classify", "Score a classifier's labels for texts or pairs");
  auto arguments = std::make_shared<ClassifyArguments>();
  add_model_arguments(*verb, arguments->model);
  add_text_input(*verb, arguments->input);
  verb->add_option("--pair-field", arguments->input.pair_field,
                   "Field of a jsonl row that holds the second text of a pair");
  verb->add_option("--pair", arguments->pair, "Classify the pair A B")->expected(2);
  verb->add_flag("--raw", arguments->raw, "Scores are logits, without the activation");
  add_truncate_options(*verb, arguments->truncate, arguments->max_length);
  add_batch_options(*verb, arguments->batch_tokens, arguments->on_error);
  add_line_output(*verb, arguments->output);
  verb->footer(
      "Example:\n  lattice classify -m MODEL \"what a film\"\n"
      "  lattice classify -m NLI_MODEL --pair \"It rains.\" \"The street is wet.\"");
  verb->callback([arguments, verb] { run_classify(*arguments, *verb); });
}

}  // namespace lattice::cli
