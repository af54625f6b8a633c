#include <cmath>

#include "unit/backends/metal/kernel_test.h"

namespace lattice::metal {
namespace {

double square_mean(const float* x, std::size_t size) {
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i)
    sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum / static_cast<double>(size);
}

// The sizes of rows and threadgroups that norms are tested with.
struct RowCase {
  std::uint32_t size;
  std::uint32_t threads;
};
constexpr RowCase kRowCases[] = {{1, 32},    {31, 32},    {80, 64},   {100, 128},
                                 {256, 256}, {1024, 256}, {515, 1024}};

class NormKernel : public KernelTest {};

TEST_F(NormKernel, RmsNormWithBothWeightForms) {
  for (const auto [size, threads] : kRowCases) {
    for (const float offset : {0.0f, 1.0f}) {
      auto x = numbers(3 * (size + 2)), weight = numbers(size);
      std::vector<float> out(3 * size);
      run("rms_norm",
          {x, weight, out,
           NormParams{.size = size,
                      .x_stride = size + 2,
                      .residual_stride = 0,
                      .sum_stride = 0,
                      .out_stride = size,
                      .has_residual = 0,
                      .has_bias = 0,
                      .weight_offset = offset,
                      .eps = 1e-5f}},
          {3}, {threads});
      std::vector<double> expected;
      for (std::size_t row = 0; row < 3; ++row) {
        const float* in = &x[row * (size + 2)];
        const double scale = 1.0 / std::sqrt(square_mean(in, size) + 1e-5);
        for (std::size_t i = 0; i < size; ++i) {
          expected.push_back(static_cast<double>(in[i]) * scale *
                             (static_cast<double>(offset) + static_cast<double>(weight[i])));
        }
      }
      expect_close(out, expected, 3e-6);
    }
  }
}

TEST_F(NormKernel, RmsNormOfASumKeepsTheSum) {
  for (const auto [size, threads] : kRowCases) {
    const auto x0 = numbers(2 * size);
    auto sum = x0, residual = numbers(2 * size), weight = numbers(size);
    std::vector<float> out(2 * size);
    const NormParams params{.size = size,
                            .x_stride = size,
                            .residual_stride = size,
                            .sum_stride = size,
                            .out_stride = size,
                            .has_residual = 1,
                            .has_bias = 0,
                            .weight_offset = 0.0f,
                            .eps = 1e-6f};
    auto x = x0;
    std::vector<float> total(2 * size);
    run("rms_norm_residual", {x, residual, weight, total, out, params}, {2}, {threads});
    std::vector<double> expected;
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t i = row * size; i < (row + 1) * size; ++i)
        ASSERT_EQ(total[i], x[i] + residual[i]);
      const double scale = 1.0 / std::sqrt(square_mean(&total[row * size], size) + 1e-6);
      for (std::size_t i = 0; i < size; ++i) {
        expected.push_back(static_cast<double>(total[row * size + i]) * scale *
                           static_cast<double>(weight[i]));
      }
    }
    expect_close(out, expected, 3e-6);
  }
}

std::vector<double> layer_norm_reference(const std::vector<float>& x,
                                         const std::vector<float>& residual,
                                         const std::vector<float>& weight,
                                         const std::vector<float>& bias) {
  const std::size_t size = weight.size();
  std::vector<double> out(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += size) {
    double mean = 0.0, variance = 0.0;
    const auto y = [&](std::size_t i) {
      return static_cast<double>(x[begin + i]) +
             (residual.empty() ? 0.0 : static_cast<double>(residual[begin + i]));
    };
    for (std::size_t i = 0; i < size; ++i) mean += y(i) / static_cast<double>(size);
    for (std::size_t i = 0; i < size; ++i)
      variance += (y(i) - mean) * (y(i) - mean) / static_cast<double>(size);
    for (std::size_t i = 0; i < size; ++i) {
      out[begin + i] = (y(i) - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(weight[i]) +
                       (bias.empty() ? 0.0 : static_cast<double>(bias[i]));
    }
  }
  return out;
}

TEST_F(NormKernel, LayerNormWithAndWithoutResidualAndBias) {
  for (const auto [size, threads] : kRowCases) {
    if (size == 1) continue;
    for (const bool full : {false, true}) {
      auto x = numbers(2 * size), residual = numbers(2 * size), weight = numbers(size),
           bias = numbers(size);
      std::vector<float> out(2 * size);
      const NormParams params{.size = size,
                              .x_stride = size,
                              .residual_stride = size,
                              .sum_stride = 0,
                              .out_stride = size,
                              .has_residual = full ? 1u : 0u,
                              .has_bias = full ? 1u : 0u,
                              .weight_offset = 0.0f,
                              .eps = 1e-5f};
      run("layer_norm", {x, residual, weight, bias, out, params}, {2}, {threads});
      expect_close(out,
                   layer_norm_reference(x, full ? residual : std::vector<float>(), weight,
                                        full ? bias : std::vector<float>()),
                   5e-6);
    }
  }
}

TEST_F(NormKernel, GatedRmsNormPerHead) {
  constexpr std::uint32_t kDim = 80, kHeads = 3, kTokens = 2, kWidth = kDim * kHeads;
  auto x = numbers(kTokens * kWidth), gate = numbers(kTokens * kWidth, 3.0f),
       weight = numbers(kDim);
  std::vector<float> out(kTokens * kWidth);
  run("gated_rms_norm",
      {x, gate, weight, out,
       GatedNormParams{.head_dim = kDim,
                       .x_stride = kWidth,
                       .gate_stride = kWidth,
                       .out_stride = kWidth,
                       .activation = 4,
                       .eps = 1e-6f}},
      {kTokens, kHeads}, {64});
  std::vector<double> expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t head = i / kDim * kDim;
    const auto g = static_cast<double>(gate[i]);
    expected.push_back(static_cast<double>(x[i]) / std::sqrt(square_mean(&x[head], kDim) + 1e-6) *
                       static_cast<double>(weight[i % kDim]) * g / (1.0 + std::exp(-g)));
  }
  expect_close(out, expected, 5e-6);
}

TEST_F(NormKernel, L2NormalizeKeepsTinyRowsFinite) {
  constexpr std::uint32_t kSize = 384;
  auto x = numbers(3 * kSize);
  for (std::size_t i = kSize; i < 2 * kSize; ++i) x[i] = 0.0f;
  const auto before = x;
  run("l2_normalize", {x, RowParams{.size = kSize, .stride = kSize, .eps = 1e-12f}}, {3}, {128});
  std::vector<double> expected;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double norm = std::sqrt(square_mean(&before[i / kSize * kSize], kSize) * kSize);
    expected.push_back(static_cast<double>(before[i]) / std::max(norm, 1e-12));
  }
  expect_close(x, expected, 1e-6);
}

class QkNormRopeKernel : public HeadShapeTest {};
INSTANTIATE_TEST_SUITE_P(Must, QkNormRopeKernel, ::testing::ValuesIn(kMustShapes), shape_name);

// A row of the tables of cosines and sines.
struct Rotation {
  std::size_t half;
  const float* cosines;
  const float* sines;
};

// One head in double, in place, its weights in the form 1 + w; none: no norm.
void norm_and_rotate(double* head, std::size_t dim, const std::vector<float>& weight,
                     const Rotation& rotation) {
  double sum = 0.0;
  for (std::size_t i = 0; i < dim; ++i) sum += head[i] * head[i];
  const double scale = 1.0 / std::sqrt(sum / static_cast<double>(dim) + 1e-6);
  for (std::size_t i = 0; i < dim && !weight.empty(); ++i) {
    head[i] *= scale * (1.0 + static_cast<double>(weight[i]));
  }
  for (std::size_t i = 0; i < rotation.half; ++i) {
    const double a = head[i], b = head[i + rotation.half];
    const auto cosine = static_cast<double>(rotation.cosines[i]);
    const auto sine = static_cast<double>(rotation.sines[i]);
    head[i] = a * cosine - b * sine;
    head[i + rotation.half] = b * cosine + a * sine;
  }
}

TEST_P(QkNormRopeKernel, FullAndPartialRotationWithAndWithoutNorm) {
  const auto dim = static_cast<std::size_t>(GetParam().head_dim);
  const auto groups = static_cast<std::size_t>(GetParam().groups);
  constexpr std::size_t kTokens = 3, kKvHeads = 2, kPositions = 8;
  const std::size_t heads = groups * kKvHeads;
  for (const bool has_norm : {true, false}) {
    const std::size_t half = has_norm ? dim / 2 : dim / 8;
    const std::vector<float> none;
    auto q = numbers(kTokens * heads * dim), k = numbers(kTokens * kKvHeads * dim);
    auto q_weight = numbers(dim), k_weight = numbers(dim);
    auto cosines = numbers(kPositions * half), sines = numbers(kPositions * half);
    std::vector<std::int32_t> positions = {0, 7, 3};
    std::vector<double> expected_q(q.begin(), q.end()), expected_k(k.begin(), k.end());
    for (std::size_t t = 0; t < kTokens; ++t) {
      const std::size_t row = static_cast<std::size_t>(positions[t]) * half;
      const Rotation rotation = {half, &cosines[row], &sines[row]};
      for (std::size_t h = 0; h < heads; ++h) {
        norm_and_rotate(&expected_q[(t * heads + h) * dim], dim, has_norm ? q_weight : none,
                        rotation);
      }
      for (std::size_t h = 0; h < kKvHeads; ++h) {
        norm_and_rotate(&expected_k[(t * kKvHeads + h) * dim], dim, has_norm ? k_weight : none,
                        rotation);
      }
    }
    const QkNormRopeParams params{.num_heads = static_cast<std::uint32_t>(heads),
                                  .q_stride = static_cast<std::uint32_t>(heads * dim),
                                  .k_stride = static_cast<std::uint32_t>(kKvHeads * dim),
                                  .rotary_half = static_cast<std::uint32_t>(half),
                                  .table_stride = static_cast<std::uint32_t>(half),
                                  .has_q_weight = has_norm ? 1u : 0u,
                                  .has_k_weight = has_norm ? 1u : 0u,
                                  .weight_offset = 1.0f,
                                  .eps = 1e-6f};
    run(GetParam(), "qk_norm_rope", {q, k, q_weight, k_weight, positions, cosines, sines, params},
        {kTokens, static_cast<std::uint32_t>(heads + kKvHeads)},
        {static_cast<std::uint32_t>(fused_threads(GetParam().head_dim))});
    expect_close(q, expected_q, 1e-5);
    expect_close(k, expected_k, 1e-5);
  }
}

}  // namespace
}  // namespace lattice::metal
