#include "layers/layer_norm.h"

namespace lattice {

LayerNorm LayerNorm::load(const WeightScope& scope, std::int64_t size, float eps) {
  const bool old_names = !scope.has("weight") && scope.has("gamma");
  LayerNorm norm;
  norm.weight_ = scope.require_floats(old_names ? "gamma" : "weight", size);
  norm.bias_ = scope.require_floats(old_names ? "beta" : "bias", size);
  norm.eps_ = eps;
  return norm;
}

void LayerNorm::forward(Context& context, ConstMatrix x, std::optional<ConstMatrix> residual,
                        MutMatrix out) const {
  layer_norm(
      context,
      {.x = x, .residual = residual, .weight = weight_, .bias = bias_, .eps = eps_, .out = out});
}

}  // namespace lattice
