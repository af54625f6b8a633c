#pragma once

#include "layers/linear.h"

namespace lattice {

/// SwiGLU: out = down(activation(gate(x)) * up(x)) + residual. Thread-safe after construction.
/// Source: Shazeer 2020, arXiv:2002.05202.
class GatedMlp {
 public:
  /// Loads gate_proj, up_proj and down_proj below `scope`, without biases.
  static GatedMlp load(const WeightScope& scope, std::int64_t hidden_size,
                       std::int64_t intermediate_size, WeightFormat format);

  /// x [num_tokens, hidden_size]; `out` may alias `residual`.
  void forward(Context& context, ConstMatrix x, Activation activation, ConstMatrix residual,
               MutMatrix out) const;

 private:
  GatedMlp(Linear gate_up, Linear down) : gate_up_(std::move(gate_up)), down_(std::move(down)) {}

  Linear gate_up_;  // [2 * intermediate, hidden]: gate, then up
  Linear down_;     // [hidden, intermediate]
};

}  // namespace lattice
