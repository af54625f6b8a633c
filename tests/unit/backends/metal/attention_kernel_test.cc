#include <cmath>

#include "unit/backends/metal/kernel_test.h"

namespace lattice::metal {
namespace {

struct Case {
  std::vector<std::int32_t> cu_queries;
  std::vector<std::int32_t> cu_keys;
  bool causal = false;
  std::uint32_t window = 0;
};

struct Tensors {
  std::size_t dim, groups, kv_heads;
  std::vector<float> q, k, v;
  float scale;

  std::size_t q_width() const { return dim * groups * kv_heads; }
  std::size_t kv_width() const { return dim * kv_heads; }
};

// One output row of one head in double.
void attend(const Tensors& t, std::size_t query, std::size_t head, std::size_t begin,
            std::size_t end, double* out) {
  const std::size_t kv = head / t.groups * t.dim;
  std::vector<double> scores;
  double top = -1e300, total = 0.0;
  for (std::size_t key = begin; key < end; ++key) {
    double score = 0.0;
    for (std::size_t i = 0; i < t.dim; ++i) {
      score += static_cast<double>(t.q[query * t.q_width() + head * t.dim + i]) *
               static_cast<double>(t.k[key * t.kv_width() + kv + i]);
    }
    scores.push_back(score * static_cast<double>(t.scale));
    top = std::max(top, scores.back());
  }
  for (const double score : scores) total += std::exp(score - top);
  for (std::size_t i = 0; i < t.dim; ++i) {
    double sum = 0.0;
    for (std::size_t key = begin; key < end; ++key) {
      sum += std::exp(scores[key - begin] - top) *
             static_cast<double>(t.v[key * t.kv_width() + kv + i]);
    }
    out[i] = sum / total;
  }
}

std::vector<double> expected_output(const Tensors& t, const Case& c) {
  std::vector<double> out(t.q.size());
  for (std::size_t s = 0; s + 1 < c.cu_queries.size(); ++s) {
    const auto first_key = static_cast<std::size_t>(c.cu_keys[s]);
    const auto num_keys = static_cast<std::size_t>(c.cu_keys[s + 1] - c.cu_keys[s]);
    const auto num_queries = static_cast<std::size_t>(c.cu_queries[s + 1] - c.cu_queries[s]);
    for (std::size_t i = 0; i < num_queries; ++i) {
      const std::size_t end = c.causal ? num_keys - num_queries + i + 1 : num_keys;
      const std::size_t begin = c.window != 0 && end > c.window ? end - c.window : 0;
      const std::size_t query = static_cast<std::size_t>(c.cu_queries[s]) + i;
      for (std::size_t head = 0; head < t.groups * t.kv_heads; ++head) {
        attend(t, query, head, first_key + begin, first_key + end,
               &out[query * t.q_width() + head * t.dim]);
      }
    }
  }
  return out;
}

class AttentionKernel : public HeadShapeTest {
 protected:
  void compare(Case c, float q_scale = 4.0f, double tolerance = 5e-6) {
    const auto [head_dim, groups] = GetParam();
    Tensors t{.dim = static_cast<std::size_t>(head_dim),
              .groups = static_cast<std::size_t>(groups),
              .kv_heads = 2,
              .q = {},
              .k = {},
              .v = {},
              .scale = 1.0f / std::sqrt(static_cast<float>(head_dim))};
    const auto num_queries = static_cast<std::size_t>(c.cu_queries.back());
    const auto num_keys = static_cast<std::size_t>(c.cu_keys.back());
    t.q = numbers(num_queries * t.q_width(), q_scale);
    t.k = numbers(num_keys * t.kv_width());
    t.v = numbers(num_keys * t.kv_width());
    std::vector<float> out(t.q.size());
    const AttentionParams params{.num_seqs = static_cast<std::uint32_t>(c.cu_queries.size() - 1),
                                 .q_stride = static_cast<std::uint32_t>(t.q_width()),
                                 .k_stride = static_cast<std::uint32_t>(t.kv_width()),
                                 .v_stride = static_cast<std::uint32_t>(t.kv_width()),
                                 .out_stride = static_cast<std::uint32_t>(t.q_width()),
                                 .causal = c.causal ? 1u : 0u,
                                 .window = c.window,
                                 .scale = t.scale};
    run(GetParam(), "attention", {t.q, t.k, t.v, out, c.cu_queries, c.cu_keys, params},
        {static_cast<std::uint32_t>(num_queries), 2}, {static_cast<std::uint32_t>(32 * groups)});
    expect_close(out, expected_output(t, c), tolerance);
  }
};
INSTANTIATE_TEST_SUITE_P(Must, AttentionKernel, ::testing::ValuesIn(kMustShapes), shape_name);

TEST_P(AttentionKernel, BidirectionalRaggedBatch) {
  compare({.cu_queries = {0, 1, 1, 6, 9}, .cu_keys = {0, 1, 1, 6, 9}});
}

TEST_P(AttentionKernel, CausalOverSeveralBlocksOfKeys) {
  compare({.cu_queries = {0, 4, 7}, .cu_keys = {0, 66, 99}, .causal = true});
}

TEST_P(AttentionKernel, SlidingWindow) {
  compare({.cu_queries = {0, 3, 6}, .cu_keys = {0, 70, 73}, .causal = true, .window = 34});
}

TEST_P(AttentionKernel, LargeScores) {
  compare({.cu_queries = {0, 2}, .cu_keys = {0, 40}, .causal = true}, 60.0f, 2e-5);
}

}  // namespace
}  // namespace lattice::metal
