#include "layers/rms_norm.h"

namespace lattice {

RmsNorm RmsNorm::load(const WeightScope& scope, std::int64_t size, float eps, float weight_offset) {
  RmsNorm norm;
  norm.weight_ = scope.require_floats("weight", size);
  norm.eps_ = eps;
  norm.weight_offset_ = weight_offset;
  return norm;
}

void RmsNorm::forward(Context& context, ConstMatrix x, MutMatrix out) const {
  rms_norm(context,
           {.x = x, .weight = weight_, .weight_offset = weight_offset_, .eps = eps_, .out = out});
}

}  // namespace lattice
