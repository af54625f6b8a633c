#pragma once

#include <cstdint>
#include <span>

#include "ops/matrix.h"
#include "ops/sequence_layout.h"

namespace lattice {

/// How a sequence's token vectors become one vector; names as in sentence-transformers.
enum class PoolingMode {
  kCls,           ///< the first token of the sequence
  kMax,           ///< elementwise maximum
  kMean,          ///< sum / n
  kMeanSqrtLen,   ///< sum / sqrt(n)
  kWeightedMean,  ///< weights 1..n by position, skipped tokens counted
  kLastToken,     ///< the last token
};

/// out[s] = pooled vector of sequence s, over its tokens from skip[s] on (a prompt left out of the
/// pool). kCls takes the first of them, kLastToken the last; kWeightedMean keeps each token's
/// weight, its position in the whole sequence plus 1. Sums in f32 or better, in token order. With
/// no token left, kCls gives the sequence's first token and every other mode zeros. Source:
/// sentence-transformers, Pooling module.
struct PoolArgs {
  ConstMatrix x;  ///< [num_tokens, hidden_size]
  SequenceLayout layout;
  std::span<const std::int32_t> skip = {};  ///< [num_seqs], or empty for none
  PoolingMode mode = PoolingMode::kMean;
  MutMatrix out;  ///< [num_seqs, hidden_size]
};

/// In place: x[r] /= max(|x[r]|_2, eps), the norm accumulated in f32 or better.
/// Source: torch.nn.functional.normalize.
struct L2NormalizeArgs {
  MutMatrix x;
  float eps = 1e-12f;
};

}  // namespace lattice
