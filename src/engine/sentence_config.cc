#include "engine/sentence_config.h"

#include <fmt/ranges.h>

#include "io/config_reader.h"

namespace lattice {
namespace {

void read_prompts(ConfigReader& reader, SentencePrompts& out) {
  const Json* prompts = reader.get("prompts");
  if (prompts == nullptr) return;
  if (!prompts->is_object()) return reader.wrong_type("prompts", "an object", *prompts);
  for (const JsonMember& member : prompts->members()) {
    if (member.value.is_null()) {  // the library reads null as no text
      out.prompts.emplace_back(member.key, "");
      continue;
    }
    const auto text = member.value.as_string();
    if (!text) {
      return reader.wrong_type(fmt::format("prompts.{}", member.key), "a string", member.value);
    }
    out.prompts.emplace_back(member.key, *text);
  }
}

}  // namespace

const std::string& SentencePrompts::find(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const auto& [prompt_name, text] : prompts) {
    if (prompt_name == name) return text;
    names.push_back(prompt_name);
  }
  raise(ErrorCode::kInvalidArgument, "prompt_name: unknown prompt \"{}\"; this model has: {}", name,
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

SentencePrompts load_sentence_prompts(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "config_sentence_transformers.json";
  SentencePrompts out;
  if (!std::filesystem::exists(file)) return out;
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  ConfigReader reader(document.root(), file.string());
  read_prompts(reader, out);
  const std::string name = reader.get_string("default_prompt_name", "");
  if (!name.empty()) out.default_prompt_name = name;
  const std::string similarity = reader.get_string("similarity_fn_name", "");
  if (!similarity.empty()) out.similarity = similarity;
  out.is_cross_encoder = reader.get_string("model_type", "") == "CrossEncoder";
  out.activation_fn = reader.get_string("activation_fn", "");
  reader.ignore({"__version__"});
  value_or_throw(reader.finish());
  if (out.default_prompt_name) {
    try {
      out.find(*out.default_prompt_name);
    } catch (const LatticeError& error) {
      raise(ErrorCode::kMalformed, "{}: default_prompt_name: {}", file.string(), error.what());
    }
  }
  reader.warn_unread_keys();
  return out;
}

TransformerModuleConfig load_transformer_module_config(const std::filesystem::path& directory) {
  TransformerModuleConfig out;
  for (const char* name : {"sentence_bert_config.json", "sentence_roberta_config.json",
                           "sentence_camembert_config.json", "sentence_xlm-roberta_config.json"}) {
    const std::filesystem::path file = directory / name;
    if (!std::filesystem::exists(file)) continue;
    const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
    ConfigReader reader(document.root(), file.string());
    const std::int64_t limit = reader.get_int("max_seq_length", 0, 1, std::int64_t{1} << 40);
    if (limit > 0) out.max_seq_length = limit;
    out.do_lower_case = reader.get_bool("do_lower_case", false);
    out.task = reader.get_string("transformer_task", out.task);
    out.output_name = reader.get_string("module_output_name", out.output_name);
    if (const Json* modalities = reader.get("modality_config")) {
      out.takes_messages = modalities->find("message") != nullptr;
    }
    reader.ignore({"processing_kwargs", "unpad_inputs", "model_args", "tokenizer_args",
                   "config_args", "model_kwargs", "processor_kwargs", "config_kwargs"});
    value_or_throw(reader.finish());
    reader.warn_unread_keys();
    out.source = name;
    return out;
  }
  return out;
}

void check_transformer_task(const TransformerModuleConfig& config, std::string_view task,
                            std::string_view output_name) {
  if (config.task != task) {
    raise(ErrorCode::kUnsupported,
          "{}: transformer_task: expected \"{}\" for these modules, got \"{}\"", config.source,
          task, config.task);
  }
  if (config.output_name != output_name) {
    raise(ErrorCode::kUnsupported, "{}: module_output_name: expected \"{}\", got \"{}\"",
          config.source, output_name, config.output_name);
  }
}

}  // namespace lattice
