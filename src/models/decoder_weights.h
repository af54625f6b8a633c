#pragma once

#include <string>

#include "models/model_family.h"

namespace lattice {

/// Where a decoder's tensors are: embedding checkpoints name them without the language model's
/// prefix "model.", multimodal ones with "model.language_model.". Throws kNotFound when none holds.
WeightScope find_decoder_root(const WeightScope& weights, const std::string& config_path);

/// The weight [vocab_size, hidden_size] that gives a language model's logits: lm_head.weight if the
/// files have it, else the embedding table where tie_word_embeddings says so. Throws kNotFound for
/// an untied model without lm_head.weight.
Tensor load_decoder_head(const ModelSource& source, const ModelTraits& traits);

}  // namespace lattice
