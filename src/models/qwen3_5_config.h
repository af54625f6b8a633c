#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json.h"
#include "layers/rotary_table.h"
#include "models/delta_cache.h"
#include "ops/activation.h"
#include "ops/causal_conv1d.h"

namespace lattice {

/// config.json of a Qwen3.5 language model; Hugging Face's names.
struct Qwen35Config {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t max_position_embeddings = 0;
  float rms_norm_eps = 1e-6f;
  Activation hidden_act = Activation::kSilu;  ///< of the MLP and of the convolution
  bool attention_bias = false;
  bool tie_word_embeddings = false;
  RopeConfig rope;
  DeltaCacheShape delta;           ///< of a Gated DeltaNet layer
  std::vector<bool> is_attention;  ///< per layer; false: Gated DeltaNet

  std::int64_t q_dim() const { return num_attention_heads * head_dim; }
  std::int64_t kv_dim() const { return num_key_value_heads * head_dim; }
};

/// Parses and validates a flat config, or the text_config of a multimodal one. Throws LatticeError
/// naming the field: kMalformed for bad values, kUnsupported for options that would change the
/// computation and are not implemented. A key that is neither known nor inert is logged as a
/// warning.
Qwen35Config parse_qwen3_5_config(const Json& config, const std::string& path);

}  // namespace lattice
