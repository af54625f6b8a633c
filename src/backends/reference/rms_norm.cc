#include <cmath>

#include "backends/reference/reference_backend.h"

namespace lattice {

void ReferenceBackend::rms_norm(Context&, const RmsNormArgs& args) const {
  const auto size = static_cast<std::size_t>(args.x.cols);
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    const float* x = args.x.row(r);
    double squares = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    const double inverse =
        1.0 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(args.eps));
    for (std::size_t i = 0; i < size; ++i) {
      const double weight =
          static_cast<double>(args.weight_offset) + static_cast<double>(args.weight[i]);
      args.out.row(r)[i] = static_cast<float>(static_cast<double>(x[i]) * inverse * weight);
    }
  }
}

}  // namespace lattice
