#include <cmath>
#include <vector>

#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

void normalize_head(std::vector<double>& head, std::span<const float> weight,
                    const QkNormRopeArgs& args) {
  double squares = 0.0;
  for (const double value : head) squares += value * value;
  const double inverse =
      1.0 / std::sqrt(squares / static_cast<double>(head.size()) + static_cast<double>(args.eps));
  for (std::size_t i = 0; i < head.size(); ++i) {
    head[i] *= inverse * (static_cast<double>(args.weight_offset) + static_cast<double>(weight[i]));
  }
}

void rotate_head(std::vector<double>& head, const float* cos, const float* sin, std::size_t half) {
  for (std::size_t i = 0; i < half; ++i) {
    const double a = head[i];
    const double b = head[i + half];
    const auto c = static_cast<double>(cos[i]);
    const auto s = static_cast<double>(sin[i]);
    head[i] = a * c - b * s;
    head[i + half] = b * c + a * s;
  }
}

void transform(const QkNormRopeArgs& args, MutMatrix x, std::span<const float> weight) {
  std::vector<double> head(static_cast<std::size_t>(args.head_dim));
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const std::int64_t position = args.positions[static_cast<std::size_t>(t)];
    for (std::int64_t begin = 0; begin < x.cols; begin += args.head_dim) {
      float* values = x.row(t) + begin;
      for (std::size_t i = 0; i < head.size(); ++i) head[i] = static_cast<double>(values[i]);
      if (!weight.empty()) normalize_head(head, weight, args);
      rotate_head(head, args.cos.row(position), args.sin.row(position),
                  static_cast<std::size_t>(args.cos.cols));
      for (std::size_t i = 0; i < head.size(); ++i) values[i] = static_cast<float>(head[i]);
    }
  }
}

}  // namespace

void ReferenceBackend::qk_norm_rope(Context&, const QkNormRopeArgs& args) const {
  transform(args, args.q, args.q_weight);
  transform(args, args.k, args.k_weight);
}

}  // namespace lattice
