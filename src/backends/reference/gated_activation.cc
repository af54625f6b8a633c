#include "backends/reference/reference_backend.h"

namespace lattice {

void ReferenceBackend::gated_activation(Context&, const GatedActivationArgs& args) const {
  for (std::int64_t r = 0; r < args.out.rows; ++r) {
    for (std::int64_t c = 0; c < args.out.cols; ++c) {
      const double gate =
          apply_activation(args.activation, static_cast<double>(args.gate.row(r)[c]));
      args.out.row(r)[c] = static_cast<float>(gate * static_cast<double>(args.up.row(r)[c]));
    }
  }
}

}  // namespace lattice
