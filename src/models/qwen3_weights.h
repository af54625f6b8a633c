#pragma once

#include <string>

#include "layers/weight_scope.h"

namespace lattice {

/// Where the decoder's tensors are: embedding checkpoints name them without the language model's
/// prefix "model.". Throws kNotFound when neither holds.
WeightScope find_qwen3_root(const WeightScope& weights, const std::string& config_path);

}  // namespace lattice
