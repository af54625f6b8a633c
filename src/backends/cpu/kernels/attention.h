#pragma once

#include <cstdint>

#include "backends/cpu/cpu_target.h"

namespace lattice {

/// The running softmax of one query row: scores are in units of log 2.
struct SoftmaxState {
  float max;
  float sum;         ///< of 2^(score - max) over the keys seen so far
  float correction;  ///< 2^(old max - max): what earlier sums must be multiplied by
};

/// One block of keys for two query rows.
struct SoftmaxArgs {
  float* scores[2];       ///< [num_keys], readable up to the next multiple of a panel; clobbered
  std::int64_t num_keys;  ///< keys of this block
  std::int64_t first_seen[2];  ///< each row sees the keys [first_seen, end_seen) of the block,
  std::int64_t end_seen[2];    ///< which may be none
  float* weights;              ///< out, [num_keys][2]: a row pair of a product's block
  SoftmaxState* state;         ///< [2]
};

/// What attention needs besides the f32 tiles of the matrix product (kernels/gemm.h). The kernels
/// allocate nothing and cannot fail.
struct AttentionKernels {
  /// Keys [num_keys, head_dim] times `factor` as panels [head_dim][panel_cols]. The rest of the
  /// last one holds any numbers: copies of the last key, or what was there.
  void (*pack_keys)(const float* keys, std::int64_t stride, std::int64_t num_keys,
                    std::int64_t head_dim, float factor, float* panels);
  /// Values [num_keys, head_dim] as panels [num_keys][panel_cols], the last one padded with zeros.
  void (*pack_values)(const float* values, std::int64_t stride, std::int64_t num_keys,
                      std::int64_t head_dim, float* panels);
  /// weights = 2^(scores - max), the running state brought up to date.
  void (*softmax_pair)(const SoftmaxArgs& args);
  /// row *= factor; size is a multiple of a panel.
  void (*scale_row)(float* row, std::int64_t size, float factor);
  /// out = row / divisor; `row` is readable up to the next multiple of a panel.
  void (*divide_row)(const float* row, std::int64_t size, float divisor, float* out);
};

/// nullptr where `target` is not compiled.
const AttentionKernels* attention_kernels(CpuTarget target);

}  // namespace lattice
