#pragma once

#include <vector>

#include "layers/weight_scope.h"
#include "ops/ops.h"

namespace lattice {

/// RMSNorm over the last dimension. Immutable.
class RmsNorm {
 public:
  /// Loads "<scope>.weight". `weight_offset` is 1 for families that store w - 1.
  static RmsNorm load(const WeightScope& scope, std::int64_t size, float eps,
                      float weight_offset = 0.0f);

  /// out may alias x.
  void forward(Context& context, ConstMatrix x, MutMatrix out) const;

  std::span<const float> weight() const { return weight_; }

 private:
  std::vector<float> weight_;
  float eps_ = 0.0f;
  float weight_offset_ = 0.0f;
};

}  // namespace lattice
