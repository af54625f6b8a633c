#include "engine/quantize.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "cli.h"
#include "io/hub/model_store.h"
#include "io/hub/transfer_meter.h"
#include "io/json_writer.h"

namespace lattice::cli {
namespace {

struct QuantizeArguments {
  std::string model;
  std::string output;
  std::string type = "q8_0";
  bool json = false;
  bool quiet = false;
};

void print_json(const QuantizeArguments& arguments, const QuantizeReport& report) {
  JsonWriter json;
  json.begin_object().field("output", arguments.output).field("type", arguments.type);
  json.field("tensors_quantized", report.num_quantized).field("tensors_kept", report.num_kept);
  json.field("bytes_before", report.bytes_before).field("bytes_after", report.bytes_after);
  json.key("weight_files").begin_array();
  for (const std::string& file : report.weight_files) json.value(file);
  json.end_array().key("skipped_files").begin_array();
  for (const std::string& file : report.skipped_files) json.value(file);
  json.end_array().end_object();
  std::printf("%s\n", json.text().c_str());
}

void print_text(const QuantizeArguments& arguments, const QuantizeReport& report) {
  const std::string line = fmt::format(
      "{}: weights {} -> {} ({:.0f} %), {} tensors in {}, {} as they were\n", arguments.output,
      human_bytes(report.bytes_before), human_bytes(report.bytes_after),
      100.0 * static_cast<double>(report.bytes_after) / static_cast<double>(report.bytes_before),
      report.num_quantized, arguments.type, report.num_kept);
  std::fputs(line.c_str(), stdout);
}

void run_quantize(const QuantizeArguments& arguments) {
  if (arguments.quiet) set_log_level(LogLevel::kError);
  const QuantizeReport report =
      quantize_model(value_or_throw(resolve_model(arguments.model)), arguments.output);
  for (const std::string& file : report.skipped_files) {
    log_warning("{}: weights that lattice does not use are not copied", file);
  }
  if (arguments.json) {
    print_json(arguments, report);
  } else {
    print_text(arguments, report);
  }
}

}  // namespace

void add_quantize(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("quantize", "Write a copy of a model with smaller weights");
  auto arguments = std::make_shared<QuantizeArguments>();
  verb->add_option("-m,--model", arguments->model, "Model directory, or a name fetched by pull")
      ->required();
  verb->add_option("-o,--output", arguments->output,
                   "Directory to make; it may exist if it is empty")
      ->required();
  verb->add_option("--type", arguments->type, "q8_0: blocks of 32 bytes with a scale")
      ->check(CLI::IsMember({"q8_0"}))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "Machine-readable");
  verb->add_flag("--quiet", arguments->quiet, "No warnings on standard error");
  verb->footer(
      "The copy gives the same results as the model with --dtype q8_0.\n"
      "Example:\n  lattice quantize -m models/all-MiniLM-L6-v2 -o models/MiniLM-q8_0 --type q8_0");
  verb->callback([arguments] { run_quantize(*arguments); });
}

}  // namespace lattice::cli
