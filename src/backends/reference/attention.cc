#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < size; ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

// The output of one query row and head over the keys [begin, end) of its sequence.
void attend(const AttentionArgs& args, const KeysValues& seq, std::int64_t row, std::int64_t head,
            std::pair<std::int64_t, std::int64_t> keys) {
  const auto [begin, end] = keys;
  const std::int64_t q_column = head * args.head_dim;
  const std::int64_t kv_head = head / (args.num_heads / args.num_kv_heads);
  std::vector<double> weights(static_cast<std::size_t>(end - begin));
  double max_score = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = begin; j < end; ++j) {
    const double score = static_cast<double>(args.scale) *
                         dot(args.q.row(row) + q_column, seq.key(j, kv_head), args.head_dim);
    weights[static_cast<std::size_t>(j - begin)] = score;
    max_score = std::max(max_score, score);
  }
  double total = 0.0;
  for (double& weight : weights) {
    weight = std::exp(weight - max_score);
    total += weight;
  }
  for (std::int64_t d = 0; d < args.head_dim; ++d) {
    double sum = 0.0;
    for (std::int64_t j = begin; j < end; ++j) {
      sum += weights[static_cast<std::size_t>(j - begin)] *
             static_cast<double>(seq.value(j, kv_head)[d]);
    }
    args.out.row(row)[q_column + d] = static_cast<float>(sum / total);
  }
}

}  // namespace

void ReferenceBackend::attention(Context&, const AttentionArgs& args) const {
  for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
    const KeysValues seq = args.keys_values(s);
    const std::int64_t num_earlier = seq.num_keys() - args.layout.length(s);
    for (std::int64_t i = 0; i < args.layout.length(s); ++i) {
      const std::int64_t end = args.causal ? num_earlier + i + 1 : seq.num_keys();
      const std::int64_t begin = args.window > 0 ? std::max<std::int64_t>(0, end - args.window) : 0;
      for (std::int64_t h = 0; h < args.num_heads; ++h) {
        attend(args, seq, args.layout.begin(s) + i, h, {begin, end});
      }
    }
  }
}

}  // namespace lattice
