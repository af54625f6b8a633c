#include <cstdio>
#include <memory>

#include "base/result.h"
#include "cli.h"
#include "device_report.h"
#include "io/json_writer.h"
#include "line_sink.h"
#include "stream_output.h"

namespace lattice::cli {
namespace {

struct PerplexityArguments {
  ModelArguments model;
  std::string file;
  PerplexityOptions options;
  bool json = false;
};

std::string report(const PerplexityArguments& arguments, const Perplexity& perplexity) {
  const double speed = static_cast<double>(perplexity.num_tokens) / perplexity.seconds;
  if (!arguments.json) {
    return fmt::format("perplexity {:.4f} over {} tokens ({:.1f} tokens/s){}\n", perplexity.value(),
                       perplexity.num_tokens, speed, other_device_note(perplexity.other_device));
  }
  JsonWriter json;
  json.begin_object().field("perplexity", perplexity.value());
  json.field("negative_log_likelihood", perplexity.negative_log_likelihood);
  json.field("tokens", perplexity.num_tokens).field("seconds", perplexity.seconds);
  json.field("tokens_per_second", speed);
  add_other_device(json, perplexity.other_device);
  json.end_object();
  return json.take() + "\n";
}

void run_perplexity(const PerplexityArguments& arguments) {
  const std::string text = read_whole_text(arguments.file);
  const Model model = load_model(arguments.model);
  const Perplexity perplexity = model.perplexity(text, arguments.options);
  const std::unique_ptr<LineSink> lines = open_stdout_lines();
  lines->write(report(arguments, perplexity));
  lines->finish();
}

}  // namespace

void add_perplexity(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("perplexity", "Measure how well a model predicts the text of a file");
  auto arguments = std::make_shared<PerplexityArguments>();
  add_model_arguments(*verb, arguments->model);
  verb->add_option("FILE", arguments->file, "The text, - for standard input")->required();
  verb->add_option("--window", arguments->options.window,
                   "Tokens that one window sees; default: 2048, or the model's positions");
  verb->add_option("--stride", arguments->options.stride,
                   "Tokens by which windows advance; default: half a window");
  verb->add_flag("--json", arguments->json, "JSON instead of a sentence");
  verb->footer("Example:\n  lattice perplexity -m MODEL text.txt");
  verb->callback([arguments] { run_perplexity(*arguments); });
}

}  // namespace lattice::cli
