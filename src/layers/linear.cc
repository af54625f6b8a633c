#include "layers/linear.h"

namespace lattice {

Linear::Linear(std::vector<LinearPart> parts, WeightFormat format)
    : in_features_(0), out_features_(0), format_(format), packing_(std::make_unique<Packing>()) {
  check_linear_parts(parts);
  in_features_ = parts.front().weight.dim(1);
  for (const LinearPart& part : parts) out_features_ += part.weight.dim(0);
  packing_->parts = std::move(parts);
}

Linear::Linear(LinearPart part, WeightFormat format)
    : Linear(std::vector<LinearPart>{std::move(part)}, format) {}

const PackedLinear& Linear::packed(Context& context) const {
  Packing& packing = *packing_;
  std::call_once(packing.once, [&] {
    packing.packed = context.backend().pack_linear(context.threads(), packing.parts, format_);
    packing.parts.clear();
  });
  return *packing.packed;
}

void Linear::forward(Context& context, ConstMatrix x, MutMatrix out, Activation activation,
                     std::optional<ConstMatrix> residual) const {
  linear(context, {.weight = &packed(context),
                   .x = x,
                   .out = out,
                   .activation = activation,
                   .residual = residual});
}

LinearPart load_linear_part(const WeightScope& scope, std::int64_t in_features,
                            std::int64_t out_features, bool bias) {
  LinearPart part;
  part.weight = scope.require_linear("weight", {out_features, in_features});
  if (bias) part.bias = scope.require_as_stored("bias", {out_features});
  return part;
}

}  // namespace lattice
