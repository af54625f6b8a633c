#include "models/qwen3_config.h"

#include "io/config_reader.h"
#include "io/quantization_config.h"
#include "models/config_limits.h"

namespace lattice {
namespace {

constexpr DecoderConfigRules kRules = {.default_head_dim = 128, .max_heads = kMaxWidth};

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
      reader.refuse("layer_types", fmt::format("\"{}\" is not implemented", type));
    }
  }
}

}  // namespace

Qwen3Config parse_qwen3_config(const Json& config_json, const std::string& path) {
  ConfigReader reader(config_json, path);
  Qwen3Config config;
  read_decoder_config(reader, kRules, config);
  const std::string act = reader.get_string("hidden_act", "silu");
  if (act != "silu") reader.refuse("hidden_act", fmt::format("\"{}\" is not implemented", act));
  read_quantization(reader);
  read_windows(reader, config);
  if (reader.ok() && config.head_dim % 2 != 0) {
    reader.set_error(
        ErrorCode::kMalformed,
        fmt::format("{}: head_dim: expected an even number, got {}", path, config.head_dim));
  }
  config.rope = read_rope_config(reader, config.head_dim, config.max_position_embeddings);
  reader.ignore({"auto_map", "is_decoder", "sentence_transformers",
                 "sbert_ce_default_activation_function", "num_labels"});
  value_or_throw(reader.finish());
  reader.warn_unread_keys();
  return config;
}

}  // namespace lattice
