#pragma once

#include "models/model_family.h"

namespace lattice {

/// The head of Qwen3ForSequenceClassification: score.weight on the last token that is not
/// pad_token_id. Throws kNotFound naming a missing tensor.
std::unique_ptr<SequenceHead> load_qwen3_head(const HeadSource& source);

/// The weight [vocab_size, hidden_size] that gives a language model's logits: lm_head.weight, or
/// the embedding table where tie_word_embeddings says so. Throws kNotFound for an untied model
/// without lm_head.weight.
Tensor load_qwen3_language_head(const ModelSource& source, const ModelTraits& traits);

}  // namespace lattice
