#pragma once

#include <optional>
#include <span>

#include "ops/matrix.h"

namespace lattice {

/// out = (y - mean(y)) / sqrt(var(y) + eps) * weight + bias per row, with y = x + residual and the
/// biased variance. Statistics accumulate in f32 or better. `out` may alias `x` or `residual`.
/// Source: Ba et al. 2016, arXiv:1607.06450; torch.nn.LayerNorm.
struct LayerNormArgs {
  ConstMatrix x;  ///< [num_tokens, hidden_size]
  std::optional<ConstMatrix> residual = std::nullopt;
  std::span<const float> weight;     ///< [hidden_size]
  std::span<const float> bias = {};  ///< [hidden_size], or empty for none
  float eps = 1e-12f;
  MutMatrix out;
};

}  // namespace lattice
