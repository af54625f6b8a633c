#include "models/qwen3_5_config.h"

#include "io/config_reader.h"
#include "io/quantization_config.h"
#include "models/config_limits.h"

namespace lattice {
namespace {

constexpr std::int64_t kMaxHeads = 4096;
constexpr std::int64_t kMaxInterval = 1024;
constexpr DecoderConfigRules kRules = {.default_head_dim = 256, .max_heads = kMaxHeads};

void malformed(ConfigReader& reader, std::string_view key, std::string_view expected) {
  reader.set_error(ErrorCode::kMalformed,
                   fmt::format("{}: {}: expected {}", reader.source(), key, expected));
}

void read_delta_shape(ConfigReader& reader, Qwen35Config& config) {
  DeltaRuleShape& rule = config.delta.rule;
  rule.num_key_heads = reader.get_int("linear_num_key_heads", 16, 1, kMaxHeads);
  rule.num_value_heads = reader.get_int("linear_num_value_heads", 32, 1, kMaxHeads);
  rule.key_head_dim = reader.get_int("linear_key_head_dim", 128, 1, kMaxHeadDim);
  rule.value_head_dim = reader.get_int("linear_value_head_dim", 128, 1, kMaxHeadDim);
  config.delta.conv_kernel = reader.get_int("linear_conv_kernel_dim", 4, 1, kMaxConvKernel);
  if (!reader.ok()) return;
  config.delta.conv_channels = 2 * rule.key_dim() + rule.value_dim();
  if (rule.num_value_heads % rule.num_key_heads != 0) {
    malformed(reader, "linear_num_value_heads",
              fmt::format("a multiple of linear_num_key_heads {}, got {}", rule.num_key_heads,
                          rule.num_value_heads));
  }
}

void read_layer_types(ConfigReader& reader, Qwen35Config& config) {
  const std::int64_t interval = reader.get_int("full_attention_interval", 4, 1, kMaxInterval);
  const Json* types = reader.get("layer_types");
  if (!reader.ok()) return;
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    config.is_attention.push_back((i + 1) % interval == 0);
  }
  if (types == nullptr) return;
  if (types->items().size() != config.is_attention.size()) {
    malformed(reader, "layer_types",
              fmt::format("{} entries (num_hidden_layers), got {}", config.is_attention.size(),
                          types->items().size()));
    return;
  }
  for (std::size_t i = 0; i < config.is_attention.size(); ++i) {
    const std::string_view type = types->items()[i].as_string().value_or("?");
    config.is_attention[i] = type == "full_attention";
    if (type != "full_attention" && type != "linear_attention") {
      reader.refuse("layer_types", fmt::format("\"{}\" is not implemented", type));
    }
  }
}

// The part of a head that rotates; rope_parameters goes before the top level.
void read_rope(ConfigReader& reader, Qwen35Config& config) {
  double factor = reader.get_double("partial_rotary_factor", 0.25);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* object = reader.get(key);
    if (object == nullptr || !object->is_object()) continue;
    if (const Json* inner = object->find("partial_rotary_factor")) {
      factor = inner->as_double().value_or(-1.0);
    }
  }
  const auto rotary_dim = static_cast<std::int64_t>(static_cast<double>(config.head_dim) * factor);
  if (reader.ok() && (!(factor > 0.0 && factor <= 1.0) || rotary_dim < 2 || rotary_dim % 2 != 0)) {
    malformed(reader, "partial_rotary_factor",
              fmt::format("a fraction of head_dim {} that gives an even number of dimensions",
                          config.head_dim));
    return;
  }
  config.rope = read_rope_config(reader, rotary_dim, config.max_position_embeddings);
}

void read_options(ConfigReader& reader, Qwen35Config& config) {
  const std::string act = reader.get_string("hidden_act", "silu");
  if (const auto parsed = parse_activation(act)) {
    config.hidden_act = *parsed;
  } else {
    reader.refuse("hidden_act", fmt::format("\"{}\" is not implemented", act));
  }
  if (!reader.get_bool("attn_output_gate", true)) {
    reader.refuse("attn_output_gate", "attention without an output gate is not implemented");
  }
  const Json* dense = reader.get("mlp_only_layers");
  if (dense != nullptr && !dense->items().empty()) {
    reader.refuse("mlp_only_layers", "mixtures of experts are not implemented");
  }
  if (reader.has("num_experts")) {
    reader.refuse("num_experts", "mixtures of experts are not implemented");
  }
  config.mtp_num_hidden_layers = reader.get_int("mtp_num_hidden_layers", 1, 0, 1024);
  config.mtp_use_dedicated_embeddings = reader.get_bool("mtp_use_dedicated_embeddings", false);
  read_quantization(reader);
}

Qwen35Config parse_text_config(const Json& json, const std::string& source) {
  ConfigReader reader(json, source);
  Qwen35Config config;
  read_decoder_config(reader, kRules, config);
  read_delta_shape(reader, config);
  read_options(reader, config);
  read_layer_types(reader, config);
  read_rope(reader, config);
  reader.ignore({"is_encoder_decoder", "mamba_ssm_dtype", "output_gate_type",
                 "partial_rotary_factor", "full_attention_interval"});
  value_or_throw(reader.finish());
  reader.warn_unread_keys();
  return config;
}

}  // namespace

Qwen35Config parse_qwen3_5_config(const Json& config_json, const std::string& path) {
  ConfigReader root(config_json, path);
  const Json* text = root.get("text_config");
  if (text == nullptr) {
    // A multimodal config keeps nothing of the language model at its root.
    if (root.get_string("model_type", "") == "qwen3_5") {
      root.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: text_config: expected an object, got nothing", path));
    }
    value_or_throw(root.finish());
    return parse_text_config(config_json, path);
  }
  if (!text->is_object()) root.wrong_type("text_config", "an object", *text);
  const bool tied = root.get_bool("tie_word_embeddings", false);
  read_quantization(root);
  value_or_throw(root.finish());
  Qwen35Config config = parse_text_config(*text, path + ": text_config");
  config.tie_word_embeddings = config.tie_word_embeddings || tied;
  return config;
}

}  // namespace lattice
