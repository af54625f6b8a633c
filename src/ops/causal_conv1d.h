#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/activation.h"
#include "ops/matrix.h"
#include "ops/sequence_layout.h"

namespace lattice {

/// Depthwise convolution over the tokens of each sequence, without bias:
/// out[t][c] = activation(sum_i weight[i][c] x[t - (kernel_size - 1) + i][c]), i < kernel_size.
///
/// Tokens before a sequence's first one are its history, or zeros. Products are summed in f32 or
/// better, oldest token first. `out` must not alias `x`. Source: causal_conv1d of Mamba (Gu & Dao
/// 2023, arXiv:2312.00752).
struct CausalConv1dArgs {
  ConstMatrix x;       ///< [num_tokens, channels]
  ConstMatrix weight;  ///< [kernel_size, channels]; the last tap is the current token's
  Activation activation = Activation::kIdentity;
  MutMatrix out;  ///< [num_tokens, channels]
  SequenceLayout layout;
  /// Empty, or per sequence the kernel_size - 1 inputs before its first token, oldest first:
  /// [kernel_size - 1, channels].
  std::span<const ConstMatrix> history = {};

  std::int64_t kernel_size() const { return weight.rows; }

  /// Tap `i` of token `t` of sequence `s`: a row of x or of the history; nullptr for zeros.
  const float* tap(std::int64_t s, std::int64_t t, std::int64_t i) const {
    const std::int64_t input = t - (kernel_size() - 1) + i;
    if (input >= 0) return x.row(layout.begin(s) + input);
    if (history.empty()) return nullptr;
    const ConstMatrix& before = history[static_cast<std::size_t>(s)];
    return before.row(before.rows + input);
  }
};

/// The longest kernel that backends must take.
inline constexpr std::int64_t kMaxConvKernel = 16;

}  // namespace lattice
