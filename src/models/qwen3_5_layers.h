#pragma once

#include "layers/linear.h"
#include "layers/rms_norm.h"
#include "models/qwen3_5_config.h"
#include "models/rotary_positions.h"
#include "models/text_model.h"

namespace lattice {

/// What the layers of one forward pass share.
struct Qwen35Pass {
  const Qwen35Config& config;
  const TokenBatch& batch;
  const RotaryPositions& positions;
  std::size_t layer = 0;  ///< the index of the layer
};

/// Full attention with an output gate: hidden += o_proj(attention(x) * sigmoid(gate(x))), where the
/// first part of each head is rotated. Thread-safe after construction.
class GatedAttention {
 public:
  static GatedAttention load(const WeightScope& scope, const Qwen35Config& config,
                             WeightFormat format);
  void forward(Context& context, const Qwen35Pass& pass, ConstMatrix x, MutMatrix hidden) const;

 private:
  GatedAttention(Linear qkv_gate, Linear o_proj, RmsNorm q_norm, RmsNorm k_norm)
      : qkv_gate_(std::move(qkv_gate)),
        o_proj_(std::move(o_proj)),
        q_norm_(std::move(q_norm)),
        k_norm_(std::move(k_norm)) {}

  Linear qkv_gate_;  // [q_dim + 2 * kv_dim + q_dim, hidden]: queries, keys, values, gates
  Linear o_proj_;    // [hidden, q_dim]
  RmsNorm q_norm_;
  RmsNorm k_norm_;
};

/// Gated DeltaNet: hidden += out_proj(gated_norm(delta_rule(conv(qkv(x)), a(x), b(x)), z(x))).
/// Thread-safe after construction. Source: Yang et al. 2024, arXiv:2412.06464.
class GatedDeltaNet {
 public:
  static GatedDeltaNet load(const WeightScope& scope, const Qwen35Config& config,
                            WeightFormat format);
  void forward(Context& context, const Qwen35Pass& pass, ConstMatrix x, MutMatrix hidden) const;

 private:
  GatedDeltaNet(Linear in_proj, Linear out_proj)
      : in_proj_(std::move(in_proj)), out_proj_(std::move(out_proj)) {}

  void convolve(Context& context, const Qwen35Pass& pass, ConstMatrix x, MutMatrix out) const;

  Linear in_proj_;   // [conv_channels + value_dim + 2 * value heads, hidden]: q, k, v, z, b, a
  Linear out_proj_;  // [hidden, value_dim]
  std::vector<float> conv_weight_;  // [conv_kernel, conv_channels]
  std::vector<float> a_log_;        // [value heads]
  std::vector<float> dt_bias_;      // [value heads]
  std::vector<float> norm_weight_;  // [value_head_dim]
};

}  // namespace lattice
