#include "ops/activation.h"

#include "backends/reference/reference_backend.h"

namespace lattice {

void ReferenceBackend::activation(Context&, const ActivationArgs& args) const {
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    for (float& value : args.x.row_span(r)) {
      value = static_cast<float>(apply_activation(args.activation, static_cast<double>(value)));
    }
  }
}

}  // namespace lattice
