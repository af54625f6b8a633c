#include <fmt/format.h>

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

// A GEMM for a number of rows and a kind of elements, with what a threadgroup covers.
struct GemmVariant {
  std::string_view name;
  std::uint32_t tile_rows, tile_columns;
};
constexpr GemmVariant kVariants[] = {{"short", 4, 4}, {"medium", 16, 32}, {"long", 32, 32}};

// A weight as kernels read it, and its exact values.
template <typename T>
struct Weight {
  explicit Weight(const std::vector<float>& numbers, T (*round)(float)) {
    for (const float number : numbers) {
      elements.push_back(round(number));
      values.push_back(to_float(elements.back()));
    }
  }
  std::vector<T> elements;
  std::vector<float> values;
};

class GemmKernel : public KernelTest, public ::testing::WithParamInterface<GemmVariant> {
 protected:
  template <typename T>
  std::vector<float> multiply(const GemmCase& c, std::string_view elements, std::vector<T> weight) {
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
    const GemmVariant& variant = GetParam();
    run(fmt::format("gemm_{}_{}", variant.name, elements),
        {x_, weight, bias_, residual_, out, params},
        {(c.rows + variant.tile_rows - 1) / variant.tile_rows,
         (c.columns + variant.tile_columns - 1) / variant.tile_columns},
        {128});
    return out;
  }
  std::vector<double> expected(const GemmCase& c, const std::vector<float>& weight, bool rounds_x) {
    std::vector<double> out;
    for (std::size_t r = 0; r < c.rows; ++r) {
      for (std::size_t n = 0; n < c.columns; ++n) {
        double sum = c.has_bias ? static_cast<double>(bias_[n]) : 0.0;
        for (std::size_t i = 0; i < c.depth; ++i) {
          const float value = x_[r * c.depth + i];
          sum += static_cast<double>(rounds_x ? to_float(to_bfloat16(value)) : value) *
                 static_cast<double>(weight[n * c.depth + i]);
        }
        sum = apply_activation(c.activation, sum);
        out.push_back(sum +
                      (c.has_residual ? static_cast<double>(residual_[r * c.columns + n]) : 0.0));
      }
    }
    return out;
  }
  // Numbers for a case's x, bias and residual, and for its weight.
  std::vector<float> draw(const GemmCase& c) {
    x_ = numbers(c.rows * c.depth);
    bias_ = numbers(c.columns);
    residual_ = numbers(c.rows * c.columns);
    return numbers(c.columns * c.depth);
  }

 private:
  std::vector<float> x_, bias_, residual_;
};
INSTANTIATE_TEST_SUITE_P(Rows, GemmKernel, ::testing::ValuesIn(kVariants),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(GemmKernel, F32) {
  for (const GemmCase& c : kCases) {
    const std::vector<float> weight = draw(c);
    expect_close(multiply(c, "f32", weight), expected(c, weight, false), 2e-5);
  }
}

// Rounding the weight is all that 16 bits change: the same products in the same order.
TEST_P(GemmKernel, SixteenBitsHaveTheBitsOfTheirValuesInF32) {
  for (const GemmCase& c : kCases) {
    const std::vector<float> numbers = draw(c);
    const Weight f16(numbers, to_float16);
    const Weight bf16(numbers, to_bfloat16);
    EXPECT_EQ(multiply(c, "f16", f16.elements), multiply(c, "f32", f16.values));
    EXPECT_EQ(multiply(c, "bf16", bf16.elements), multiply(c, "f32", bf16.values));
  }
}

TEST_P(GemmKernel, RoundedBf16) {
  for (const GemmCase& c : kCases) {
    const Weight weight(draw(c), to_bfloat16);
    expect_close(multiply(c, "bf16_rounded", weight.elements), expected(c, weight.values, true),
                 2e-5);
  }
}

class Q8Kernel : public KernelTest {};

TEST_F(Q8Kernel, QuantizesAsTheHostDoesAndMultiplies) {
  constexpr std::uint32_t kRows = 6, kColumns = 9, kDepth = 80, kBlocks = 3;
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
      {2, 5}, {64});
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
  std::vector<Q8WeightBlock> blocks;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t b = 0; b < kSize; b += kQ8BlockSize) {
      blocks.push_back(quantize_weight_block(
          std::span(f32).subspan(r * kSize + b, std::min<std::size_t>(kQ8BlockSize, kSize - b))));
    }
  }
  run("embedding_f32", {f32, ids, out, params(0)}, {4}, {64});
  run("embedding_f16", {f16, ids, out, params(1)}, {4}, {64});
  run("embedding_bf16", {bf16, ids, out, params(1)}, {4}, {64});
  run("embedding_q8_0", {blocks, ids, out, params(1)}, {4}, {64});
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (std::size_t i = 0; i < kSize; ++i) {
      const std::size_t at = static_cast<std::size_t>(ids[t]) * kSize + i;
      const std::size_t block = static_cast<std::size_t>(ids[t]) * 3 + i / 32;
      EXPECT_EQ(out[t * kSize + i], f32[at] + to_float(f16[at]) + to_float(bf16[at]) +
                                        dequantize(blocks[block], i % 32));
    }
  }
}

}  // namespace
}  // namespace lattice::metal
