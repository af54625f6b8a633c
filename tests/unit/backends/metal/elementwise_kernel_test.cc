#include <cmath>

#include "ops/activation.h"
#include "ops/pool.h"
#include "unit/backends/metal/kernel_test.h"

namespace lattice::metal {
namespace {

class ElementwiseKernel : public KernelTest {};

TEST_F(ElementwiseKernel, EveryActivationWithBias) {
  constexpr std::uint32_t kColumns = 100;
  for (std::uint32_t a = 0; a < kNumActivations; ++a) {
    auto x = numbers(2 * kColumns, 8.0f), bias = numbers(kColumns);
    const auto before = x;
    run("bias_activation",
        {x, bias,
         ActivationParams{
             .num_columns = kColumns, .stride = kColumns, .activation = a, .has_bias = 1}},
        {2, 2}, {64});
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected.push_back(apply_activation(
          static_cast<Activation>(a),
          static_cast<double>(before[i]) + static_cast<double>(bias[i % kColumns])));
    }
    expect_close(x, expected, 2e-6);
  }
}

TEST_F(ElementwiseKernel, SiluTimesUp) {
  constexpr std::uint32_t kColumns = 130;
  auto gate = numbers(3 * kColumns, 5.0f), up = numbers(3 * kColumns);
  std::vector<float> out(3 * kColumns);
  run("gated_activation",
      {gate, up, out,
       GatedActivationParams{.num_columns = kColumns,
                             .gate_stride = kColumns,
                             .up_stride = kColumns,
                             .out_stride = kColumns,
                             .activation = static_cast<std::uint32_t>(Activation::kSilu)}},
      {3, 3}, {64});
  std::vector<double> expected;
  for (std::size_t i = 0; i < out.size(); ++i) {
    expected.push_back(apply_activation(Activation::kSilu, static_cast<double>(gate[i])) *
                       static_cast<double>(up[i]));
  }
  expect_close(out, expected, 2e-6);
}

TEST_F(ElementwiseKernel, CausalConvolutionWithAndWithoutHistory) {
  constexpr std::size_t kChannels = 40, kTaps = 4, kTokens = 9;
  std::vector<std::int32_t> cu = {0, 2, 2, 9};
  for (const bool has_history : {false, true}) {
    auto x = numbers(kTokens * kChannels), weight = numbers(kTaps * kChannels),
         history = numbers(3 * (kTaps - 1) * kChannels);
    std::vector<float> out(kTokens * kChannels);
    const ConvParams params{.num_seqs = 3,
                            .channels = kChannels,
                            .kernel_size = kTaps,
                            .x_stride = kChannels,
                            .out_stride = kChannels,
                            .activation = static_cast<std::uint32_t>(Activation::kSilu),
                            .has_history = has_history ? 1u : 0u};
    run("causal_conv1d", {x, weight, history, cu, out, params}, {kTokens, 2}, {32});
    std::vector<double> expected;
    for (std::size_t row = 0; row < kTokens; ++row) {
      const std::size_t seq = row < 2 ? 0 : 2, begin = row < 2 ? 0 : 2;
      for (std::size_t c = 0; c < kChannels; ++c) {
        double sum = 0.0;
        for (std::size_t i = 0; i < kTaps; ++i) {
          const std::size_t at = row - begin + i;  // counted from the first token of the history
          double value =
              has_history && at < kTaps - 1
                  ? static_cast<double>(history[(seq * (kTaps - 1) + at) * kChannels + c])
                  : 0.0;
          if (at >= kTaps - 1)
            value = static_cast<double>(x[(begin + at - (kTaps - 1)) * kChannels + c]);
          sum += static_cast<double>(weight[i * kChannels + c]) * value;
        }
        expected.push_back(apply_activation(Activation::kSilu, sum));
      }
    }
    expect_close(out, expected, 2e-6);
  }
}

// A column of the rows [begin, end), of which the first `skip` are left out.
struct Column {
  const float* first_row;
  std::size_t width, begin, end, skip;

  double value(std::size_t row) const { return static_cast<double>(first_row[row * width]); }
};

double pooled(const Column& x, PoolingMode mode) {
  const std::size_t first = x.begin + x.skip;
  if (mode == PoolingMode::kCls) {
    return x.begin == x.end ? 0.0 : x.value(first < x.end ? first : x.begin);
  }
  if (first >= x.end) return 0.0;
  if (mode == PoolingMode::kLastToken) return x.value(x.end - 1);
  double sum = 0.0, weights = 0.0, top = x.value(first);
  for (std::size_t row = first; row < x.end; ++row) {
    const bool is_weighted = mode == PoolingMode::kWeightedMean;
    const double weight = is_weighted ? static_cast<double>(row - x.begin + 1) : 1.0;
    sum += weight * x.value(row);
    weights += weight;
    top = std::max(top, x.value(row));
  }
  if (mode == PoolingMode::kMax) return top;
  return sum / (mode == PoolingMode::kMeanSqrtLen ? std::sqrt(weights) : weights);
}

TEST_F(ElementwiseKernel, EveryPoolingModeWithSkippedTokens) {
  constexpr std::size_t kWidth = 70;
  std::vector<std::int32_t> cu = {0, 5, 6, 6, 14}, skip = {2, 1, 0, 0};
  auto x = numbers(14 * kWidth);
  for (std::uint32_t mode = 0; mode < 6; ++mode) {
    for (const bool has_skip : {false, true}) {
      std::vector<float> out(4 * kWidth);
      run("pool",
          {x, cu, skip, out,
           PoolParams{.hidden_size = kWidth,
                      .x_stride = kWidth,
                      .out_stride = kWidth,
                      .mode = mode,
                      .has_skip = has_skip ? 1u : 0u}},
          {4, 2}, {64});
      std::vector<double> expected;
      for (std::size_t s = 0; s < 4; ++s) {
        for (std::size_t c = 0; c < kWidth; ++c) {
          const Column column = {&x[c], kWidth, static_cast<std::size_t>(cu[s]),
                                 static_cast<std::size_t>(cu[s + 1]),
                                 has_skip ? static_cast<std::size_t>(skip[s]) : 0};
          expected.push_back(pooled(column, static_cast<PoolingMode>(mode)));
        }
      }
      expect_close(out, expected, 2e-6);
    }
  }
}

TEST_F(ElementwiseKernel, ArgmaxTakesTheFirstOfEquals) {
  for (const std::uint32_t size : {1u, 31u, 300u}) {
    auto x = numbers(4 * size);
    for (std::size_t i = size; i < 2 * size; ++i) x[i] = -2.0f;  // all equal
    if (size > 40) x[2 * size + 37] = x[2 * size + 290] = 5.0f;
    std::vector<std::int32_t> out(4);
    run("argmax", {x, out, RowParams{.size = size, .stride = size, .eps = 0.0f}}, {4}, {128});
    for (std::size_t row = 0; row < 4; ++row) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * size);
      EXPECT_EQ(out[row], std::max_element(begin, begin + size) - begin)
          << "row " << row << " of " << size;
    }
  }
}

}  // namespace
}  // namespace lattice::metal
