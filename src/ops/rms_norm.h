#pragma once

#include <span>

#include "ops/matrix.h"

namespace lattice {

/// out = x / sqrt(mean(x^2) + eps) * (weight_offset + weight) per row; the mean accumulates in f32
/// or better. `out` may alias `x`. weight_offset is 1 for families that store w - 1.
/// Source: Zhang & Sennrich 2019, arXiv:1910.07467.
struct RmsNormArgs {
  ConstMatrix x;                  ///< [num_tokens, hidden_size]
  std::span<const float> weight;  ///< [hidden_size]
  float weight_offset = 0.0f;
  float eps = 1e-6f;
  MutMatrix out;
};

}  // namespace lattice
