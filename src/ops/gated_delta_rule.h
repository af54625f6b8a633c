#pragma once

#include <cstdint>
#include <span>

#include "ops/matrix.h"
#include "ops/sequence_layout.h"

namespace lattice {

/// Tokens after which a gated delta rule's state is brought up to date. The grid of chunks starts
/// at a sequence's first token, whatever calls the tokens come in.
inline constexpr std::int64_t kDeltaRuleChunk = 64;

/// Sizes of a gated delta rule.
struct DeltaRuleShape {
  std::int64_t num_key_heads = 0;
  std::int64_t num_value_heads = 0;  ///< a multiple of num_key_heads
  std::int64_t key_head_dim = 0;
  std::int64_t value_head_dim = 0;

  std::int64_t key_dim() const { return num_key_heads * key_head_dim; }
  std::int64_t value_dim() const { return num_value_heads * value_head_dim; }
  /// The columns that a value head has in memory: whole vectors of every CPU target.
  std::int64_t value_stride() const { return (value_head_dim + 15) / 16 * 16; }
};

/// What one sequence's earlier tokens leave behind in one layer: the matrix S at the start of the
/// current chunk, and the chunk's tokens so far. Dropping the last of these tokens (a smaller
/// num_pending) rewinds the sequence exactly; S itself cannot be rewound. A view: it does not own.
/// Columns of a value head beyond value_head_dim stay zero.
struct DeltaRuleState {
  float* matrix = nullptr;  ///< S [num_value_heads, key_head_dim, value_stride]
  float* keys = nullptr;    ///< normalised [num_key_heads, key_head_dim, kDeltaRuleChunk]
  float* deltas =
      nullptr;  ///< what each token adds: [num_value_heads, kDeltaRuleChunk, value_stride]
  double* decays =
      nullptr;  ///< log decay since the chunk's start [num_value_heads, kDeltaRuleChunk]
  std::int64_t num_pending = 0;  ///< tokens of the chunk so far, at most kDeltaRuleChunk
};

/// The gated delta rule over each sequence of a packed batch, per value head h with key head
/// h / (num_value_heads / num_key_heads):
///   q, k <- x / sqrt(sum x^2 + 1e-6); q <- q / sqrt(key_head_dim)
///   g = -exp(a_log[h]) softplus(a + dt_bias[h]); beta = sigmoid(b)
///   S <- exp(g) S; delta = beta (v - S^T k); S <- S + k delta^T; out = S^T q
///
/// A token's bits depend on its sequence alone, not on how the sequence is split over calls. S is
/// f32, sums of decays double. `out` must not alias the inputs.
/// Source: Yang et al. 2024, Gated Delta Networks, arXiv:2412.06464; the form by chunks: Yang et
/// al. 2024, arXiv:2406.06484.
struct GatedDeltaRuleArgs {
  DeltaRuleShape shape;
  ConstMatrix q;                   ///< [num_tokens, key_dim]
  ConstMatrix k;                   ///< [num_tokens, key_dim]
  ConstMatrix v;                   ///< [num_tokens, value_dim]
  ConstMatrix a;                   ///< [num_tokens, num_value_heads]
  ConstMatrix b;                   ///< [num_tokens, num_value_heads]
  std::span<const float> a_log;    ///< [num_value_heads]
  std::span<const float> dt_bias;  ///< [num_value_heads]
  MutMatrix out;                   ///< [num_tokens, value_dim]
  SequenceLayout layout;
  /// Empty, or per sequence the state that its tokens continue and bring up to date.
  std::span<DeltaRuleState* const> states = {};
};

/// log(1 + exp(x)) without overflow.
double softplus(double x);

/// g of one value head: the logarithm of how much of S a token keeps.
inline double delta_rule_log_decay(double a_log_exp, double a, double dt_bias) {
  return -a_log_exp * softplus(a + dt_bias);
}

}  // namespace lattice
