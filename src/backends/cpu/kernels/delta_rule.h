#pragma once

#include <cstdint>

#include "backends/cpu/cpu_target.h"

namespace lattice {

/// out[r][c] = sum_d a[r][d] b[d][c], or kept * out[r][c] plus it. Every element is one chain of
/// fused multiply-adds over d in order, however many rows a call has.
struct SmallProductArgs {
  const float* a;
  std::int64_t a_stride;
  std::int64_t rows;
  const float* b;
  std::int64_t b_stride;
  std::int64_t depth;
  float* out;
  std::int64_t out_stride;
  std::int64_t cols;  ///< a multiple of 16, as is the alignment of b and out rows in floats
  bool accumulate = false;
  float kept = 0.0f;
};

/// One token of one value head; `index` is its place in the chunk.
struct DeltaTokenArgs {
  std::int64_t index;
  const double* decays;        ///< log decay since the chunk's start, of tokens 0..index
  const float* key_scores;     ///< k . k_j, j < index
  const float* query_scores;   ///< q . k_j, j <= index
  const float* key_product;    ///< S^T k
  const float* query_product;  ///< S^T q
  const float* v;
  float beta;
  float* deltas;  ///< [kDeltaRuleChunk, value_stride]; row `index` is written
  std::int64_t value_stride;
  std::int64_t value_head_dim;
  float* out;  ///< [value_head_dim]
};

/// What the chunked gated delta rule is made of (ops/gated_delta_rule.h). The kernels allocate
/// nothing and cannot fail.
struct DeltaRuleKernels {
  /// out = x / sqrt(sum x^2 + 1e-6) * factor
  void (*normalize)(const float* x, std::int64_t size, float factor, float* out);
  void (*product)(const SmallProductArgs& args);
  void (*token)(const DeltaTokenArgs& args);
  /// out[j] = exp(decays[last] - decays[j]) for j <= last; `out` has room for whole vectors.
  void (*decay_to)(const double* decays, std::int64_t last, float* out);
};

/// nullptr where `target` is not compiled.
const DeltaRuleKernels* delta_rule_kernels(CpuTarget target);

}  // namespace lattice
