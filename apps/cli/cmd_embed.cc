#include <memory>

#include "base/result.h"
#include "cli.h"
#include "device_report.h"
#include "embed_cache.h"
#include "embed_sink.h"
#include "progress.h"
#include "row_error.h"
#include "text_input.h"
#include "text_options.h"

namespace lattice::cli {
namespace {

struct EmbedArguments {
  ModelArguments model;
  TextInputArguments input;
  EmbedOutputArguments output;
  EmbedCacheArguments cache;
  std::string prompt_name;
  std::string prompt;
  std::string pooling;
  std::string truncate = "error";
  std::string on_error = "fail";
  std::int64_t dimensions = 0;
  std::size_t max_length = 0;
  std::size_t batch_tokens = EmbedOptions{}.batch_tokens;
  bool no_normalize = false;
};

Pooling parse_pooling(const std::string& name) {
  if (name == "cls") return Pooling::kCls;
  if (name == "max") return Pooling::kMax;
  if (name == "last") return Pooling::kLast;
  return Pooling::kMean;
}

EmbedOptions embed_options(const EmbedArguments& arguments, const CLI::App& verb) {
  EmbedOptions options;
  if (verb.count("--prompt-name") > 0) options.prompt_name = arguments.prompt_name;
  if (verb.count("--prompt") > 0) options.prompt = arguments.prompt;
  if (verb.count("--dimensions") > 0) options.dimensions = arguments.dimensions;
  if (verb.count("--max-length") > 0) options.max_length = arguments.max_length;
  if (!arguments.pooling.empty()) options.pooling = parse_pooling(arguments.pooling);
  if (arguments.no_normalize) options.normalize = false;
  options.truncate = parse_truncate(arguments.truncate);
  options.batch_tokens = arguments.batch_tokens;
  options.skip_errors = true;  // the verb reports them, row by row
  return options;
}

/// Everything that decides what the output holds: only such a run may continue an earlier one.
std::string run_identity(const EmbedArguments& arguments, const Model& model) {
  return fmt::format(
      "lattice embed\nmodel {}\ntokenizer {}\ndtype {}\ninput {} {} {}\nprompt {}/{}\n"
      "dimensions {}\nmax_length {}\npooling {}\nno_normalize {}\ntruncate {}\non_error {}",
      model.info().directory, model.tokenizer().fingerprint(), model.info().compute_dtype,
      arguments.input.file, arguments.input.format, arguments.input.field, arguments.prompt_name,
      arguments.prompt, arguments.dimensions, arguments.max_length, arguments.pooling,
      arguments.no_normalize, arguments.truncate, arguments.on_error);
}

/// Reads rows in chunks, embeds each chunk at once and writes it in order.
class EmbedRun {
 public:
  EmbedRun(const EmbedArguments& arguments, const Model& model, const EmbedOptions& options)
      : arguments_(arguments),
        model_(model),
        options_(options),
        input_(arguments.input),
        sink_(open_embed_sink(arguments.output, run_identity(arguments, model),
                              model.dimensions(options))),
        progress_(arguments.model.quiet) {}

  int run() {
    skip_finished_rows();
    while (read_chunk(input_, chunk_)) write_chunk();
    sink_->finish();
    return failed_ ? kFailure : kSuccess;
  }

 private:
  void skip_finished_rows() {
    for (; next_index_ < sink_->rows_done(); ++next_index_) {
      if (!input_.next()) {
        raise(ErrorCode::kInvalidArgument, "--resume: {} has {} rows, the input only {}",
              arguments_.output.file, sink_->rows_done(), next_index_);
      }
    }
  }

  void write_chunk() {
    std::vector<std::string> texts;
    texts.reserve(chunk_.texts.size());
    for (TextPair& row : chunk_.texts) texts.push_back(std::move(row.text));
    const Embeddings embeddings = model_.embed(texts, options_);
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      write_row(embeddings, i);
      tokens += embeddings.report(i).num_tokens;
    }
    sink_->flush();
    progress_.advance(texts.size(), tokens);
  }

  void write_row(const Embeddings& embeddings, std::size_t i) {
    const TextReport& report = embeddings.report(i);
    const std::optional<Error>& error = chunk_.errors[i] ? chunk_.errors[i] : report.error;
    if (error) {
      failed_ = true;
      if (arguments_.on_error == "fail") {
        sink_->flush();
        raise_row_error(next_index_, *error);
      }
    }
    sink_->write({.index = next_index_++,
                  .num_tokens = report.num_tokens,
                  .truncated = report.truncated,
                  .other_device = report.other_device,
                  .embedding = embeddings[i],
                  .error = error ? &*error : nullptr});
  }

  const EmbedArguments& arguments_;
  const Model& model_;
  const EmbedOptions& options_;
  TextInput input_;
  std::unique_ptr<EmbedSink> sink_;
  Progress progress_;
  TextChunk chunk_;
  std::size_t next_index_ = 0;
  bool failed_ = false;
};

int run_with_cache(const EmbedArguments& arguments, const Model& model, EmbedOptions options) {
  const EmbedCache cache(arguments.cache, model);
  options.cache = cache.cache();
  int code = kSuccess;
  try {
    code = EmbedRun(arguments, model, options).run();
  } catch (...) {
    cache.save_after_error();
    throw;
  }
  cache.finish(arguments.model.quiet);
  return code;
}

void run_embed(const EmbedArguments& arguments, const CLI::App& verb) {
  if (arguments.on_error == "skip" && writes_npy(arguments.output)) {
    throw UsageError("--on-error skip needs --format jsonl: a NumPy row has no place for an error");
  }
  if (!arguments.cache.file.empty() && arguments.cache.file == arguments.output.file) {
    throw UsageError("--cache and --output name the same file");
  }
  const EmbedOptions options = embed_options(arguments, verb);
  const Model model = load_model(arguments.model);
  const int code = arguments.cache.file.empty() ? EmbedRun(arguments, model, options).run()
                                                : run_with_cache(arguments, model, options);
  if (code != kSuccess) throw ExitCode{code};
}

void add_embedding_options(CLI::App& verb, EmbedArguments& arguments) {
  verb.add_option("--prompt-name", arguments.prompt_name, "A prompt of the model, such as query");
  verb.add_option("--prompt", arguments.prompt, "Text put before every text")
      ->excludes("--prompt-name");
  verb.add_option("--dimensions", arguments.dimensions, "Keep the first N values (Matryoshka)");
  verb.add_option("--pooling", arguments.pooling, "cls, mean, max or last; default: the model's")
      ->check(CLI::IsMember({"cls", "mean", "max", "last"}));
  verb.add_flag("--no-normalize", arguments.no_normalize, "Leave the vectors' lengths as they are");
  add_truncate_options(verb, arguments.truncate, arguments.max_length);
  add_batch_options(verb, arguments.batch_tokens, arguments.on_error);
}

}  // namespace

void add_embed(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("embed", "Turn texts into vectors");
  auto arguments = std::make_shared<EmbedArguments>();
  add_model_arguments(*verb, arguments->model);
  add_text_input(*verb, arguments->input);
  add_embedding_options(*verb, *arguments);
  verb->add_option("--output", arguments->output.file, "Write to FILE instead of standard output")
      ->type_name("FILE");
  verb->add_option("--format", arguments->output.format,
                   "jsonl, npy or table; default: by extension, table on a terminal, else jsonl")
      ->check(CLI::IsMember({"jsonl", "npy", "table"}));
  verb->add_flag("--resume", arguments->output.resume,
                 "Continue an interrupted run with the same arguments");
  add_cache_options(*verb, arguments->cache);
  verb->footer(
      "Example:\n  lattice embed -m models/all-MiniLM-L6-v2 \"a text\" \"another\"\n"
      "  lattice embed -m MODEL --input docs.jsonl --output docs.npy");
  verb->callback([arguments, verb] { run_embed(*arguments, *verb); });
}

}  // namespace lattice::cli
