#include <algorithm>
#include <memory>

#include "base/result.h"
#include "cli.h"
#include "device_report.h"
#include "io/json_writer.h"
#include "line_sink.h"
#include "row_error.h"
#include "text_input.h"
#include "text_options.h"

namespace lattice::cli {
namespace {

struct RerankArguments {
  ModelArguments model;
  TextInputArguments input;
  LineOutputArguments output;
  std::string query;
  std::string truncate = "end";
  std::string on_error = "fail";
  std::string instruction;
  std::size_t max_length = 0;
  std::size_t top_n = 0;
  std::size_t batch_tokens = RerankOptions{}.batch_tokens;
  bool windows = false;
  bool raw = false;
};

RerankOptions rerank_options(const RerankArguments& arguments, const CLI::App& verb) {
  RerankOptions options;
  options.truncate = parse_truncate(arguments.truncate);
  if (verb.count("--max-length") > 0) options.max_length = arguments.max_length;
  if (verb.count("--top-n") > 0) options.top_n = arguments.top_n;
  if (verb.count("--instruction") > 0) options.instruction = arguments.instruction;
  options.windows = arguments.windows;
  options.raw = arguments.raw;
  options.batch_tokens = arguments.batch_tokens;
  options.skip_errors = true;  // the verb reports them, row by row
  return options;
}

/// All documents: a ranking needs every score before its first row.
struct Documents {
  std::vector<std::string> texts;
  std::vector<std::optional<Error>> errors;
};

Documents read_documents(const TextInputArguments& arguments) {
  Documents documents;
  TextInput input(arguments);
  TextChunk chunk;
  while (read_chunk(input, chunk)) {
    for (TextPair& row : chunk.texts) documents.texts.push_back(std::move(row.text));
    std::move(chunk.errors.begin(), chunk.errors.end(), std::back_inserter(documents.errors));
  }
  return documents;
}

std::string json_line(const RankedDocument& ranked, const std::string& document) {
  JsonWriter json;
  json.begin_object().field("index", ranked.index);
  if (ranked.report.error) {
    add_row_error(json, *ranked.report.error);  // without a document that may not be text
  } else {
    json.field("score", ranked.score).field("logit", ranked.logit);
    json.field("tokens", ranked.report.num_tokens).field("truncated", ranked.report.truncated);
    add_other_device(json, ranked.report.other_device);
    json.field("document", document);
  }
  json.end_object();
  return json.take() + "\n";
}

std::string table_line(const RankedDocument& ranked, const std::string& document) {
  if (ranked.report.error) {
    return fmt::format("{:>6}  error: {}\n", ranked.index, ranked.report.error->message);
  }
  return fmt::format("{:>6}  {:>9.5f}{}{}  {}\n", ranked.index, ranked.score,
                     ranked.report.truncated ? " (truncated)" : "",
                     other_device_note(ranked.report.other_device), first_line(document));
}

int write_ranking(const RerankArguments& arguments, const std::vector<RankedDocument>& ranking,
                  const Documents& documents) {
  const auto lines =
      open_lines(arguments.output, fmt::format("lattice rerank\nquery {}", arguments.query));
  const auto format = writes_table(arguments.output) ? table_line : json_line;
  for (const RankedDocument& ranked : ranking) {
    lines->write(format(ranked, documents.texts[ranked.index]));
  }
  lines->finish();
  return kSuccess;
}

/// Rows that could not be read rank last, with their error, like documents that failed.
void mark_bad_rows(std::vector<RankedDocument>& ranking, const Documents& documents) {
  for (RankedDocument& ranked : ranking) {
    if (documents.errors[ranked.index]) ranked.report.error = documents.errors[ranked.index];
  }
  std::vector<RankedDocument> failed;
  std::erase_if(ranking, [&](const RankedDocument& ranked) {
    if (ranked.report.error) failed.push_back(ranked);
    return ranked.report.error.has_value();
  });
  std::move(failed.begin(), failed.end(), std::back_inserter(ranking));
}

void run_rerank(const RerankArguments& arguments, const CLI::App& verb) {
  RerankOptions options = rerank_options(arguments, verb);
  const Documents documents = read_documents(arguments.input);
  const Model model = load_model(arguments.model);
  const std::optional<std::size_t> top_n = std::exchange(options.top_n, std::nullopt);
  std::vector<RankedDocument> ranking = model.rerank(arguments.query, documents.texts, options);
  mark_bad_rows(ranking, documents);
  const bool failed = !ranking.empty() && ranking.back().report.error.has_value();
  if (failed && arguments.on_error == "fail") {
    raise_row_error(ranking.back().index, *ranking.back().report.error);
  }
  if (top_n) ranking.resize(std::min(*top_n, ranking.size()));
  write_ranking(arguments, ranking, documents);
  if (failed) throw ExitCode{kFailure};
}

}  // namespace

void add_rerank(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("rerank", "Order documents by relevance to a query");
  auto arguments = std::make_shared<RerankArguments>();
  add_model_arguments(*verb, arguments->model);
  verb->add_option("--query", arguments->query, "What the documents are compared with")->required();
  add_text_input(*verb, arguments->input);
  verb->add_option("--top-n", arguments->top_n, "Print the best N only")
      ->check(CLI::Range(1, 1 << 30));
  verb->add_flag("--raw", arguments->raw, "Scores are logits, without the model's activation");
  add_truncate_options(*verb, arguments->truncate, arguments->max_length);
  verb->add_flag("--windows", arguments->windows,
                 "Score a long document in overlapping windows; the best one counts");
  verb->add_option("--instruction", arguments->instruction,
                   "The task, for language models that rerank by a prompt");
  add_batch_options(*verb, arguments->batch_tokens, arguments->on_error);
  add_line_output(*verb, arguments->output);
  verb->footer(
      "Example:\n  lattice rerank -m MODEL --query \"who wrote it?\" \"A document\" \"Another\"\n"
      "  lattice rerank -m MODEL --query Q --input docs.jsonl --field body --top-n 10");
  verb->callback([arguments, verb] { run_rerank(*arguments, *verb); });
}

}  // namespace lattice::cli
