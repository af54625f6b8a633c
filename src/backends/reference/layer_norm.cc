#include <cmath>
#include <vector>

#include "backends/reference/reference_backend.h"

namespace lattice {

void ReferenceBackend::layer_norm(Context&, const LayerNormArgs& args) const {
  const auto size = static_cast<std::size_t>(args.x.cols);
  std::vector<double> y(size);
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      y[i] = static_cast<double>(args.x.row(r)[i]);
      if (args.residual) y[i] += static_cast<double>(args.residual->row(r)[i]);
      sum += y[i];
    }
    const double mean = sum / static_cast<double>(size);
    double squares = 0.0;
    for (const double value : y) squares += (value - mean) * (value - mean);
    const double variance = squares / static_cast<double>(size);
    const double inverse = 1.0 / std::sqrt(variance + static_cast<double>(args.eps));
    for (std::size_t i = 0; i < size; ++i) {
      const double bias = args.bias.empty() ? 0.0 : static_cast<double>(args.bias[i]);
      args.out.row(r)[i] =
          static_cast<float>((y[i] - mean) * inverse * static_cast<double>(args.weight[i]) + bias);
    }
  }
}

}  // namespace lattice
