#pragma once

#include <cstdint>
#include <span>

#include "ops/matrix.h"
#include "tensor/tensor.h"

namespace lattice {

/// One table and the row to take from it for each token.
struct EmbeddingTerm {
  const Tensor* table = nullptr;  ///< [vocab, hidden_size], a floating-point dtype, any alignment
  std::span<const std::int32_t> ids;  ///< [num_tokens], each in [0, vocab)
};

/// out[t] = sum over terms of table[ids[t]], added in f32 in the order of `terms`.
struct EmbeddingLookupArgs {
  std::span<const EmbeddingTerm> terms;
  MutMatrix out;  ///< [num_tokens, hidden_size]
};

}  // namespace lattice
