#include <algorithm>
#include <cmath>

#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

// The tokens of one sequence that count: rows [begin, end), never empty.
struct TokenRange {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t first_position;  // of row `begin` in its sequence
};

double pool_column(const PoolArgs& args, const TokenRange& range, std::int64_t column) {
  const auto [begin, end, first_position] = range;
  double sum = 0.0;
  double weight_sum = 0.0;
  double max = static_cast<double>(args.x.row(begin)[column]);
  for (std::int64_t r = begin; r < end; ++r) {
    const auto value = static_cast<double>(args.x.row(r)[column]);
    const double weight = args.mode == PoolingMode::kWeightedMean
                              ? static_cast<double>(first_position + r - begin + 1)
                              : 1.0;
    sum += weight * value;
    weight_sum += weight;
    if (value > max || std::isnan(value)) max = value;
  }
  switch (args.mode) {
    case PoolingMode::kCls:
      return static_cast<double>(args.x.row(begin)[column]);
    case PoolingMode::kLastToken:
      return static_cast<double>(args.x.row(end - 1)[column]);
    case PoolingMode::kMax:
      return max;
    case PoolingMode::kMeanSqrtLen:
      return sum / std::sqrt(weight_sum);
    case PoolingMode::kMean:
    case PoolingMode::kWeightedMean:
      break;
  }
  return sum / weight_sum;
}

}  // namespace

void ReferenceBackend::pool(Context&, const PoolArgs& args) const {
  for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
    const std::int64_t end = args.layout.end(s);
    std::int64_t skipped = args.skip.empty() ? 0 : args.skip[static_cast<std::size_t>(s)];
    if (args.mode == PoolingMode::kCls && skipped >= args.layout.length(s)) skipped = 0;
    const std::int64_t begin = args.layout.begin(s) + skipped;
    for (std::int64_t c = 0; c < args.x.cols; ++c) {
      args.out.row(s)[c] =
          begin < end ? static_cast<float>(pool_column(args, {begin, end, skipped}, c)) : 0.0f;
    }
  }
}

void ReferenceBackend::l2_normalize(Context&, const L2NormalizeArgs& args) const {
  for (std::int64_t r = 0; r < args.x.rows; ++r) {
    double squares = 0.0;
    for (const float value : args.x.row_span(r)) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double norm = std::max(std::sqrt(squares), static_cast<double>(args.eps));
    for (float& value : args.x.row_span(r)) {
      value = static_cast<float>(static_cast<double>(value) / norm);
    }
  }
}

}  // namespace lattice
