#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json.h"
#include "layers/rotary_table.h"
#include "ops/activation.h"

namespace lattice {

/// config.json of a Qwen3 decoder (Qwen3-Embedding and dense Qwen3); Hugging Face's names.
struct Qwen3Config {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t max_position_embeddings = 0;
  float rms_norm_eps = 1e-6f;
  Activation hidden_act = Activation::kSilu;
  bool attention_bias = false;
  bool tie_word_embeddings = false;
  RopeConfig rope;
  /// Per layer: how many tokens up to itself a token sees; 0: all of them.
  std::vector<std::int64_t> windows;

  std::int64_t q_dim() const { return num_attention_heads * head_dim; }
  std::int64_t kv_dim() const { return num_key_value_heads * head_dim; }
};

/// Parses and validates. Throws LatticeError naming the field: kMalformed for bad values,
/// kUnsupported for options that would change the computation and are not implemented. A key that
/// is neither known nor inert is logged as a warning.
Qwen3Config parse_qwen3_config(const Json& config, const std::string& path);

}  // namespace lattice
