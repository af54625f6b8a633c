#include "layers/gated_mlp.h"

namespace lattice {

GatedMlp GatedMlp::load(const WeightScope& scope, std::int64_t hidden_size,
                        std::int64_t intermediate_size, WeightFormat format) {
  return GatedMlp(
      Linear({load_linear_part(scope.child("gate_proj"), hidden_size, intermediate_size, false),
              load_linear_part(scope.child("up_proj"), hidden_size, intermediate_size, false)},
             format),
      Linear(load_linear_part(scope.child("down_proj"), intermediate_size, hidden_size, false),
             format));
}

// style: allow(parameters) one layer's inputs and output
void GatedMlp::forward(Context& context, ConstMatrix x, Activation activation, ConstMatrix residual,
                       MutMatrix out) const {
  const Workspace::Scope scratch(context.workspace());
  const std::int64_t inner = down_.in_features();
  const MutMatrix gate_up = context.workspace().matrix(x.rows, 2 * inner);
  gate_up_.forward(context, x, gate_up);
  const MutMatrix gate = gate_up.columns(0, inner);
  gated_activation(
      context,
      {.gate = gate, .up = gate_up.columns(inner, inner), .activation = activation, .out = gate});
  down_.forward(context, gate, out, Activation::kIdentity, residual);
}

}  // namespace lattice
