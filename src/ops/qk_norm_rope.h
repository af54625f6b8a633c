#pragma once

#include <cstdint>
#include <span>

#include "ops/matrix.h"

namespace lattice {

/// In place, for every head of q and k: RMSNorm over head_dim (left out when the weight is empty),
/// then rotary embedding of the first 2 * cos.cols dimensions, pairing i with i + cos.cols:
///   (a, b) -> (a cos - b sin, b cos + a sin).
/// The other dimensions of a head pass unrotated.
/// Source: Su et al. 2021, arXiv:2104.09864, in the rotate-half form of transformers.
struct QkNormRopeArgs {
  MutMatrix q;  ///< [num_tokens, num_heads * head_dim]
  MutMatrix k;  ///< [num_tokens, num_kv_heads * head_dim]
  std::int64_t head_dim = 0;
  std::span<const float> q_weight = {};  ///< [head_dim], or empty
  std::span<const float> k_weight = {};  ///< [head_dim], or empty
  float weight_offset = 0.0f;
  float eps = 1e-6f;
  std::span<const std::int32_t> positions;  ///< [num_tokens], each < cos.rows
  ConstMatrix cos;                          ///< [positions, rotary_dim / 2]
  ConstMatrix sin;                          ///< like cos
};

}  // namespace lattice
