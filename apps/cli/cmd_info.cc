#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "cli.h"
#include "io/json_writer.h"

namespace lattice::cli {
namespace {

template <typename T>
void write_sourced(JsonWriter& json, std::string_view name, const Sourced<T>& setting) {
  json.key(name).begin_object();
  json.field("value", setting.value).field("source", setting.source);
  json.end_object();
}

void print_json(const ModelInfo& info) {
  JsonWriter json;
  json.begin_object();
  json.field("directory", info.directory).field("family", info.family);
  json.field("architecture", info.architecture).field("parameters", info.num_parameters);
  json.field("stored_dtype", info.stored_dtype).field("compute_dtype", info.compute_dtype);
  json.field("vocab_size", info.vocab_size).field("hidden_size", info.hidden_size);
  json.field("num_hidden_layers", info.num_hidden_layers);
  json.field("num_attention_heads", info.num_attention_heads);
  if (!info.labels.empty()) {
    json.key("labels").begin_array();
    for (const std::string& label : info.labels) json.value(label);
    json.end_array();
    write_sourced(json, "rerank_function", info.rerank_function);
    write_sourced(json, "classify_function", info.classify_function);
  }
  write_sourced(json, "dimensions", info.dimensions);
  write_sourced(json, "pooling", info.pooling);
  write_sourced(json, "normalize", info.normalize);
  write_sourced(json, "max_length", info.max_length);
  write_sourced(json, "similarity", info.similarity);
  if (info.eos_token_id) write_sourced(json, "eos_token_id", *info.eos_token_id);
  if (info.rope_table_max_seq_len) {
    write_sourced(json, "rope_table_max_seq_len", *info.rope_table_max_seq_len);
  }
  if (info.gpu_max_seq_len) write_sourced(json, "gpu_max_seq_len", *info.gpu_max_seq_len);
  if (info.max_context) write_sourced(json, "max_context", *info.max_context);
  if (info.stop_token_ids) {
    json.key("stop_token_ids").begin_object().key("value").begin_array();
    for (const std::int32_t id : info.stop_token_ids->value) json.value(id);
    json.end_array().field("source", info.stop_token_ids->source).end_object();
  }
  json.key("prompts").begin_object();
  for (const auto& [name, text] : info.prompts) json.field(name, text);
  json.end_object().key("default_prompt_name");
  if (info.default_prompt_name) {
    json.value(*info.default_prompt_name);
  } else {
    json.null();
  }
  json.field("device", info.device).field("device_target", info.device_target);
  json.field("device_reason", info.device_reason).field("threads", info.num_threads);
  json.end_object();
  std::printf("%s\n", json.text().c_str());
}

void print_line(std::string_view name, const std::string& value, const std::string& source = "") {
  const std::string line = fmt::format("{:<12} {}{}\n", name, value,
                                       source.empty() ? "" : fmt::format("   ({})", source));
  std::fputs(line.c_str(), stdout);
}

void print_text(const ModelInfo& info) {
  print_line("model", info.directory);
  print_line("family", fmt::format("{} ({})", info.family, info.architecture));
  print_line("parameters", fmt::format("{:.1f} M, stored as {}, computed in {}",
                                       static_cast<double>(info.num_parameters) / 1e6,
                                       info.stored_dtype, info.compute_dtype));
  print_line("layers", fmt::format("{} of width {}, {} heads", info.num_hidden_layers,
                                   info.hidden_size, info.num_attention_heads));
  print_line("vocabulary", std::to_string(info.vocab_size));
  if (!info.labels.empty()) {
    print_line("labels", fmt::format("{}", fmt::join(info.labels, ", ")));
    print_line("rerank", info.rerank_function.value, info.rerank_function.source);
    print_line("classify", info.classify_function.value, info.classify_function.source);
  }
  print_line("dimensions", std::to_string(info.dimensions.value), info.dimensions.source);
  print_line("pooling", info.pooling.value, info.pooling.source);
  print_line("normalize", info.normalize.value ? "yes" : "no", info.normalize.source);
  print_line("max length", fmt::format("{} tokens", info.max_length.value), info.max_length.source);
  print_line("similarity", info.similarity.value, info.similarity.source);
  for (const auto& [name, text] : info.prompts) {
    const bool is_default = info.default_prompt_name == name;
    print_line("prompt", fmt::format("{} = \"{}\"{}", name, text, is_default ? " (default)" : ""));
  }
  if (info.max_context) {
    print_line("generates", fmt::format("text, in a context of {} tokens", info.max_context->value),
               info.max_context->source);
  }
  if (info.stop_token_ids) {
    print_line("stop tokens", fmt::format("{}", fmt::join(info.stop_token_ids->value, ", ")),
               info.stop_token_ids->source);
  }
  if (info.eos_token_id) {
    print_line("end token", std::to_string(info.eos_token_id->value), info.eos_token_id->source);
  }
  if (info.rope_table_max_seq_len) {
    print_line("RoPE table",
               fmt::format("{} positions at first", info.rope_table_max_seq_len->value),
               info.rope_table_max_seq_len->source);
  }
  if (info.gpu_max_seq_len) {
    print_line("GPU limit", fmt::format("{} tokens", info.gpu_max_seq_len->value),
               info.gpu_max_seq_len->source);
  }
  print_line("device",
             fmt::format("{} ({}), {} threads", info.device, info.device_target, info.num_threads),
             info.device_reason);
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("info", "Show what a model is and where each setting is from");
  auto arguments = std::make_shared<ModelArguments>();
  auto json = std::make_shared<bool>(false);
  add_model_arguments(*verb, *arguments);
  verb->add_flag("--json", *json, "Machine-readable");
  verb->footer("Example:\n  lattice info -m models/all-MiniLM-L6-v2");
  verb->callback([arguments, json] {
    const Model model = load_model(*arguments);
    if (*json) {
      print_json(model.info());
    } else {
      print_text(model.info());
    }
  });
}

}  // namespace lattice::cli
