#include <cmath>

#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

void norm_head(const GatedRmsNormArgs& args, std::int64_t row, std::int64_t first_col) {
  const auto size = static_cast<std::int64_t>(args.weight.size());
  const float* x = args.x.row(row) + first_col;
  double squares = 0.0;
  for (std::int64_t i = 0; i < size; ++i) {
    squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  const double inverse =
      1.0 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(args.eps));
  for (std::int64_t i = 0; i < size; ++i) {
    const double gate =
        apply_activation(args.activation, static_cast<double>(args.gate.row(row)[first_col + i]));
    args.out.row(row)[first_col + i] =
        static_cast<float>(static_cast<double>(x[i]) * inverse *
                           static_cast<double>(args.weight[static_cast<std::size_t>(i)]) * gate);
  }
}

}  // namespace

void ReferenceBackend::gated_rms_norm(Context&, const GatedRmsNormArgs& args) const {
  const auto size = static_cast<std::int64_t>(args.weight.size());
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    for (std::int64_t c = 0; c < args.x.cols; c += size) norm_head(args, r, c);
  }
}

}  // namespace lattice
