#pragma once

#include <cstdint>
#include <string>

#include "io/json.h"
#include "ops/activation.h"

namespace lattice {

/// config.json of a BERT-like encoder (BERT, RoBERTa, XLM-RoBERTa); Hugging Face's names.
struct BertConfig {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t max_position_embeddings = 0;
  std::int64_t type_vocab_size = 0;
  std::int64_t pad_token_id = 0;
  Activation hidden_act = Activation::kGelu;
  float layer_norm_eps = 1e-12f;
  /// RoBERTa-type positions: they start at pad_token_id + 1 and skip pad tokens.
  bool roberta_positions = false;

  std::int64_t head_dim() const { return hidden_size / num_attention_heads; }
  /// The most tokens a sequence may have.
  std::int64_t usable_positions() const {
    return roberta_positions ? max_position_embeddings - pad_token_id - 1 : max_position_embeddings;
  }
};

/// Parses and validates. Throws LatticeError naming the field: kMalformed for bad values,
/// kUnsupported for options that would change the computation and are not implemented. A key that
/// is neither known nor inert is logged as a warning.
BertConfig parse_bert_config(const Json& config, const std::string& path);

}  // namespace lattice
