#pragma once

#include <vector>

#include "layers/weight_scope.h"
#include "ops/ops.h"

namespace lattice {

/// nn.LayerNorm over the last dimension, with the residual addition that precedes it. Immutable.
class LayerNorm {
 public:
  /// Loads "<scope>.weight" and ".bias", or their old TensorFlow names ".gamma" and ".beta".
  static LayerNorm load(const WeightScope& scope, std::int64_t size, float eps);

  /// out = LayerNorm(x + residual); out may alias x or residual.
  void forward(Context& context, ConstMatrix x, std::optional<ConstMatrix> residual,
               MutMatrix out) const;

 private:
  std::vector<float> weight_;
  std::vector<float> bias_;
  float eps_ = 0.0f;
};

}  // namespace lattice
