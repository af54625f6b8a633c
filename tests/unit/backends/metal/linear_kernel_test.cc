#include <cmath>

#include "base/float16.h"
#include "ops/activation.h"
#include "tensor/q8_0.h"
#include "unit/backends/metal/kernel_test.h"

namespace lattice::metal {
namespace {

struct GemmCase {
  std::uint32_t rows, columns, depth;
  Activation activation = Activation::kIdentity;
  bool has_bias = false;
  bool has_residual = false;
};

const GemmCase kCases[] = {
    {1, 1, 1},
    {4, 33, 70, Activation::kIdentity, true, false},
    {3, 5, 31, Activation::kSilu, false, true},
    {32, 32, 32},
    {33, 40, 17, Activation::kGelu, true, true},
    {70, 65, 50, Activation::kTanh, true, false},
    {9, 64, 128, Activation::kIdentity, false, true},
};

class GemmKernel : public KernelTest {
 protected:
  // The weight as the kernel reads it, and its exact values.
  template <typename T>
  void compare(const GemmCase& c, std::string_view kernel, std::vector<T> weight,
               const std::vector<double>& values, bool is_bf16) {
    auto x = numbers(c.rows * c.depth), bias = numbers(c.columns),
         residual = numbers(c.rows * c.columns);
    std::vector<float> out(c.rows * c.columns);
    const GemmParams params{.num_rows = c.rows,
                            .num_columns = c.columns,
                            .depth = c.depth,
                            .x_stride = c.depth,
                            .out_stride = c.columns,
                            .residual_stride = c.columns,
                            .activation = static_cast<std::uint32_t>(c.activation),
                            .has_bias = c.has_bias ? 1u : 0u,
                            .has_residual = c.has_residual ? 1u : 0u};
    const bool is_short = kernel.find("short") != std::string_view::npos;
    const Extent grid = is_short ? Extent{(c.columns + 3) / 4, (c.rows + 3) / 4}
                                 : Extent{(c.columns + 31) / 32, (c.rows + 31) / 32};
    run(kernel, {x, weight, bias, residual, out, params}, grid, {128});
    std::vector<double> expected;
    for (std::size_t r = 0; r < c.rows; ++r) {
      for (std::size_t n = 0; n < c.columns; ++n) {
        double sum = c.has_bias ? static_cast<double>(bias[n]) : 0.0;
        for (std::size_t i = 0; i < c.depth; ++i) {
          const float value = x[r * c.depth + i];
          sum += static_cast<double>(is_bf16 ? to_float(to_bfloat16(value)) : value) *
                 values[n * c.depth + i];
        }
        sum = apply_activation(c.activation, sum);
        expected.push_back(
            sum + (c.has_residual ? static_cast<double>(residual[r * c.columns + n]) : 0.0));
      }
    }
    expect_close(out, expected, 2e-5);
  }

  void compare_f32(const GemmCase& c, std::string_view kernel) {
    const auto weight = numbers(c.columns * c.depth);
    compare(c, kernel, weight, std::vector<double>(weight.begin(), weight.end()), false);
  }

  void compare_bf16(const GemmCase& c, std::string_view kernel) {
    std::vector<BFloat16> weight;
    std::vector<double> values;
    for (const float value : numbers(c.columns * c.depth)) {
      weight.push_back(to_bfloat16(value));
      values.push_back(static_cast<double>(to_float(weight.back())));
    }
    compare(c, kernel, weight, values, true);
  }
};

TEST_F(GemmKernel, ShortF32) {
  for (const GemmCase& c : kCases) compare_f32(c, "gemm_short_f32");
}
TEST_F(GemmKernel, LongF32) {
  for (const GemmCase& c : kCases) compare_f32(c, "gemm_long_f32");
}
TEST_F(GemmKernel, ShortBf16) {
  for (const GemmCase& c : kCases) compare_bf16(c, "gemm_short_bf16");
}
TEST_F(GemmKernel, LongBf16) {
  for (const GemmCase& c : kCases) compare_bf16(c, "gemm_long_bf16");
}

class Q8Kernel : public KernelTest {};

TEST_F(Q8Kernel, QuantizesAsTheHostDoesAndMultiplies) {
  constexpr std::uint32_t kRows = 3, kColumns = 9, kDepth = 80, kBlocks = 3;
  auto x = numbers(kRows * kDepth), weight = numbers(kColumns * kDepth);
  for (std::size_t i = 32; i < 64; ++i) x[i] = 0.0f;  // a block of zeros
  std::vector<float> bias = numbers(kColumns), residual(1), out(kRows * kColumns);
  std::vector<float> scales(kRows * kBlocks), weight_scales;
  std::vector<std::int8_t> quants(kRows * kBlocks * 32), weight_quants;
  const auto block_of = [](const std::vector<float>& values, std::size_t row, std::size_t block) {
    const std::size_t begin = row * kDepth + block * 32;
    return quantize_block(
        std::span(values).subspan(begin, std::min<std::size_t>(32, kDepth - block * 32)));
  };
  for (std::size_t i = 0; i < kColumns * kBlocks; ++i) {
    const Q8Block block = block_of(weight, i / kBlocks, i % kBlocks);
    weight_scales.push_back(block.scale);
    weight_quants.insert(weight_quants.end(), std::begin(block.quants), std::end(block.quants));
  }
  run("quantize_q8_0", {x, scales, quants, QuantizeParams{kDepth, kBlocks, kDepth}}, {kRows, 2},
      {64});
  run("gemm_q8_0",
      {scales, quants, weight_scales, weight_quants, bias, residual, out,
       GemmParams{.num_rows = kRows,
                  .num_columns = kColumns,
                  .depth = kDepth,
                  .x_stride = kDepth,
                  .out_stride = kColumns,
                  .residual_stride = 0,
                  .activation = 0,
                  .has_bias = 1,
                  .has_residual = 0}},
      {5, kRows}, {64});
  std::vector<double> expected;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const Q8Block block = block_of(x, r, b);
      ASSERT_EQ(scales[r * kBlocks + b], block.scale);
      ASSERT_TRUE(std::equal(std::begin(block.quants), std::end(block.quants),
                             quants.begin() + static_cast<std::ptrdiff_t>((r * kBlocks + b) * 32)));
    }
    for (std::size_t n = 0; n < kColumns; ++n) {
      double sum = static_cast<double>(bias[n]);
      for (std::size_t i = 0; i < kBlocks * 32; ++i) {
        const std::size_t a = r * kBlocks * 32 + i, w = n * kBlocks * 32 + i;
        sum += static_cast<double>(quants[a]) * static_cast<double>(scales[a / 32]) *
               static_cast<double>(weight_quants[w]) * static_cast<double>(weight_scales[w / 32]);
      }
      expected.push_back(sum);
    }
  }
  expect_close(out, expected, 1e-5);
}

class EmbeddingKernel : public KernelTest {};

TEST_F(EmbeddingKernel, GathersAndAddsEveryDtype) {
  constexpr std::uint32_t kRows = 5, kSize = 70;
  auto f32 = numbers(kRows * kSize);
  std::vector<Float16> f16;
  std::vector<BFloat16> bf16;
  for (const float value : f32) {
    f16.push_back(to_float16(value));
    bf16.push_back(to_bfloat16(value));
  }
  std::vector<std::int32_t> ids = {4, 0, 4, 2};
  std::vector<float> out(ids.size() * kSize);
  const auto params = [](std::uint32_t accumulate) {
    return EmbeddingParams{kSize, kSize, accumulate};
  };
  run("embedding_f32", {f32, ids, out, params(0)}, {4}, {64});
  run("embedding_f16", {f16, ids, out, params(1)}, {4}, {64});
  run("embedding_bf16", {bf16, ids, out, params(1)}, {4}, {64});
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (std::size_t i = 0; i < kSize; ++i) {
      const std::size_t at = static_cast<std::size_t>(ids[t]) * kSize + i;
      EXPECT_EQ(out[t * kSize + i], f32[at] + to_float(f16[at]) + to_float(bf16[at]));
    }
  }
}

}  // namespace
}  // namespace lattice::metal
