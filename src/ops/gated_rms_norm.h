#pragma once

#include <span>

#include "ops/activation.h"
#include "ops/matrix.h"

namespace lattice {

/// Per head of x: out = x / sqrt(mean(x^2) + eps) * weight * activation(gate), where a head is
/// weight.size() columns. The mean accumulates in f32 or better. `out` may alias `x`.
/// Source: Yang et al. 2024, Gated Delta Networks, arXiv:2412.06464.
struct GatedRmsNormArgs {
  ConstMatrix x;                  ///< [num_tokens, num_heads * head_dim]
  ConstMatrix gate;               ///< like x
  std::span<const float> weight;  ///< [head_dim]
  Activation activation = Activation::kSilu;
  float eps = 1e-6f;
  MutMatrix out;
};

}  // namespace lattice
