#pragma once

#include <cstdint>
#include <string>

#include "io/config_reader.h"
#include "layers/rotary_table.h"
#include "models/text_model.h"
#include "ops/activation.h"
#include "ops/keys_values.h"

namespace lattice {

/// What the configs of all decoder families hold; Hugging Face's names.
struct DecoderConfig {
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

  std::int64_t q_dim() const { return num_attention_heads * head_dim; }
  KvShape kv_shape() const { return {num_key_value_heads, head_dim}; }
  std::int64_t kv_dim() const { return num_key_value_heads * head_dim; }
};

/// What differs between the families.
struct DecoderConfigRules {
  std::int64_t default_head_dim = 0;
  std::int64_t max_heads = 0;
};

/// Reads and checks the members above but hidden_act and rope, sets the reader's error naming the
/// field, and ignores the keys that change no decoder's forward pass.
void read_decoder_config(ConfigReader& reader, const DecoderConfigRules& rules,
                         DecoderConfig& config);

/// The traits of a decoder with rotary positions.
ModelTraits decoder_traits(std::string family, const DecoderConfig& config);

}  // namespace lattice
