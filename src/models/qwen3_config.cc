#include "models/qwen3_config.h"

#include "base/log.h"
#include "io/config_reader.h"
#include "io/quantization_config.h"

namespace lattice {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 20;
constexpr std::int64_t kMaxVocab = std::int64_t{1} << 24;
constexpr std::int64_t kMaxLayers = 1024;
constexpr std::int64_t kMaxHeadDim = 4096;

// Keys that do not change the forward pass of a decoder.
void ignore_inert_keys(ConfigReader& reader) {
  reader.ignore({"architectures",
                 "model_type",
                 "transformers_version",
                 "torch_dtype",
                 "dtype",
                 "_name_or_path",
                 "attention_dropout",
                 "initializer_range",
                 "use_cache",
                 "bos_token_id",
                 "eos_token_id",
                 "pad_token_id",
                 "output_attentions",
                 "output_hidden_states",
                 "return_dict",
                 "auto_map",
                 "id2label",
                 "label2id",
                 "is_decoder",
                 "problem_type",
                 "sentence_transformers",
                 "sbert_ce_default_activation_function",
                 "num_labels",
                 "chunk_size_feed_forward",
                 "attn_implementation"});
}

void refuse(ConfigReader& reader, std::string_view key, std::string_view why) {
  reader.set_error(ErrorCode::kUnsupported, fmt::format("{}: {}: {}", reader.source(), key, why));
}

// layer_types rules where it is given; else the layers from max_window_layers on have the window.
// Without use_sliding_window there is none, whatever sliding_window says.
void read_windows(ConfigReader& reader, Qwen3Config& config) {
  const bool enabled = reader.get_bool("use_sliding_window", false);
  const std::int64_t window =
      enabled ? reader.require_int("sliding_window", 1, std::int64_t{1} << 30) : 0;
  reader.ignore({"sliding_window"});
  const std::int64_t first = reader.get_int("max_window_layers", 28, 0, kMaxWidth);
  if (!reader.ok()) return;
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    config.windows.push_back(i >= first ? window : 0);
  }
  const Json* layer_types = reader.get("layer_types");
  if (layer_types == nullptr) return;
  if (layer_types->items().size() != config.windows.size()) {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: layer_types: expected {} entries (num_hidden_layers), got {}",
                    reader.source(), config.windows.size(), layer_types->items().size()));
    return;
  }
  for (std::size_t i = 0; i < config.windows.size(); ++i) {
    const std::string_view type = layer_types->items()[i].as_string().value_or("?");
    if (type == "sliding_attention" && window > 0) {
      config.windows[i] = window;
    } else if (type == "sliding_attention") {
      reader.set_error(ErrorCode::kMalformed,
                       fmt::format("{}: layer_types: \"sliding_attention\" needs "
                                   "use_sliding_window",
                                   reader.source()));
    } else if (type == "full_attention") {
      config.windows[i] = 0;
    } else {
      refuse(reader, "layer_types", fmt::format("\"{}\" is not implemented", type));
    }
  }
}

void read_shape(ConfigReader& reader, Qwen3Config& config) {
  config.vocab_size = reader.require_int("vocab_size", 1, kMaxVocab);
  config.hidden_size = reader.require_int("hidden_size", 1, kMaxWidth);
  config.intermediate_size = reader.require_int("intermediate_size", 1, kMaxWidth);
  config.num_hidden_layers = reader.require_int("num_hidden_layers", 1, kMaxLayers);
  config.num_attention_heads = reader.require_int("num_attention_heads", 1, kMaxWidth);
  config.num_key_value_heads =
      reader.get_int("num_key_value_heads", config.num_attention_heads, 1, kMaxWidth);
  // The class default; never hidden_size / heads, which is another number for the released sizes.
  config.head_dim = reader.get_int("head_dim", 128, 1, kMaxHeadDim);
  config.max_position_embeddings =
      reader.get_int("max_position_embeddings", 32768, 1, std::int64_t{1} << 30);
  config.rms_norm_eps = static_cast<float>(reader.get_double("rms_norm_eps", 1e-6));
}

void check_shape(ConfigReader& reader, const Qwen3Config& config) {
  if (!reader.ok()) return;
  const auto bad = [&](std::string_view key, std::string_view expected, std::int64_t got) {
    reader.set_error(ErrorCode::kMalformed, fmt::format("{}: {}: expected {}, got {}",
                                                        reader.source(), key, expected, got));
  };
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    bad("num_key_value_heads",
        fmt::format("a divisor of num_attention_heads {}", config.num_attention_heads),
        config.num_key_value_heads);
  }
  if (config.head_dim % 2 != 0) bad("head_dim", "an even number", config.head_dim);
  if (!(config.rms_norm_eps > 0.0f)) bad("rms_norm_eps", "a positive number", 0);
}

}  // namespace

Qwen3Config parse_qwen3_config(const Json& config_json, const std::string& path) {
  ConfigReader reader(config_json, path);
  Qwen3Config config;
  read_shape(reader, config);
  config.attention_bias = reader.get_bool("attention_bias", false);
  config.tie_word_embeddings = reader.get_bool("tie_word_embeddings", false);
  const std::string act = reader.get_string("hidden_act", "silu");
  if (act != "silu") refuse(reader, "hidden_act", fmt::format("\"{}\" is not implemented", act));
  read_quantization(reader);
  read_windows(reader, config);
  check_shape(reader, config);
  config.rope = read_rope_config(reader, config.head_dim, config.max_position_embeddings);
  ignore_inert_keys(reader);
  value_or_throw(reader.finish());
  for (const std::string& key : reader.unread_keys()) {
    log_warning("{}: unknown key \"{}\" is ignored", path, key);
  }
  return config;
}

}  // namespace lattice
