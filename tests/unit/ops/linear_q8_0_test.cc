// Weights that are stored in Q8_0: in the same format their blocks are multiplied as they are, in
// the others their values.
#include <cmath>

#include "support/q8_tensors.h"
#include "unit/ops/op_test.h"

namespace lattice {
namespace {

constexpr std::int64_t kDepths[] = {1, 20, 32, 33, 64, 80, 300};

class LinearQ8Test : public OpTest {
 protected:
  Grid product(Context& with, const std::vector<LinearPart>& parts, WeightFormat format,
               const Grid& x) {
    const auto packed = with.backend().pack_linear(with.threads(), parts, format);
    Grid out(x.rows(), packed->out_features());
    linear(with, {.weight = packed.get(), .x = x.view(), .out = out.view()});
    out.expect_margins_untouched();
    return out;
  }
};
LATTICE_FOR_EACH_BACKEND(LinearQ8Test);

/// The tensor's values as f32.
Tensor dequantized(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.num_elements()));
  tensor.copy_to_f32(0, values);
  return Tensor::from_floats(tensor.shape(), values);
}

void expect_same_rows(const Grid& got, const Grid& expected) {
  for (std::int64_t r = 0; r < got.rows(); ++r) expect_same_bits(got, r, expected, r);
}

TEST_P(LinearQ8Test, StoredBlocksAreTheReferencesBlocks) {
  for (const std::int64_t k : kDepths) {
    for (const std::int64_t n : {1, 18, 45}) {
      const auto seed = static_cast<std::uint32_t>(k * 100 + n);
      const std::vector<LinearPart> parts{
          {.weight = q8_tensor(n, k, random_q8_blocks(n, k, seed), 1)},
          {.weight = q8_tensor(7, k, random_q8_blocks(7, k, seed + 1))}};
      Numbers numbers(seed);
      for (const std::int64_t m : {1, 2, 13}) {
        const Grid x(m, k, numbers);
        // Weights reach 128 * 2^-4.
        expect_near(product(context(), parts, WeightFormat::kQ8_0, x),
                    product(reference(), parts, WeightFormat::kQ8_0, x),
                    2e-6 * static_cast<double>(k + 20));
      }
    }
  }
}

// Blocks that the quantizer never writes keep their bits: 127 does not become the largest magnitude
// of every block, and scales keep their sign. One-hot rows of x read them back.
TEST_P(LinearQ8Test, PackingIsExact) {
  for (const std::int64_t k : kDepths) {
    const auto blocks = random_q8_blocks(20, k, static_cast<std::uint32_t>(k));
    const Tensor weight = q8_tensor(20, k, blocks);
    Grid x(k, k);
    // 127 quantizes to a scale of 1 and a quant of 127.
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j < k; ++j) x.at(i, j) = i == j ? 127.0f : 0.0f;
    }
    const Grid got = product(context(), {{.weight = weight}}, WeightFormat::kQ8_0, x);
    const Tensor values = dequantized(weight);
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t n = 0; n < 20; ++n) {
        ASSERT_EQ(got.at(i, n), 127.0f * values.f32()[n * k + i]) << "K " << k << " at " << i;
      }
    }
  }
}

TEST_P(LinearQ8Test, OtherFormatsTakeTheValues) {
  for (const std::int64_t k : kDepths) {
    Numbers numbers(3);
    const Tensor weight = q8_tensor(33, k, random_q8_blocks(33, k, 9), 2);
    const Grid x(6, k, numbers);
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBF16}) {
      expect_same_rows(product(context(), {{.weight = weight}}, format, x),
                       product(context(), {{.weight = dequantized(weight)}}, format, x));
    }
  }
}

// Quantizing while packing and packing what was quantized before are the same.
TEST_P(LinearQ8Test, QuantizedWhenLoadedOrBeforeIsTheSame) {
  for (const std::int64_t k : kDepths) {
    Numbers numbers(4);
    const Tensor floats = Tensor::from_floats({21, k}, numbers.vector(21 * k));
    std::vector<Q8WeightBlock> blocks(static_cast<std::size_t>(21 * num_q8_blocks(k)));
    floats.copy_to_q8_0(0, blocks);
    const Grid x(5, k, numbers);
    const Grid expected =
        product(context(), {{.weight = q8_tensor(21, k, blocks)}}, WeightFormat::kQ8_0, x);
    expect_same_rows(product(context(), {{.weight = floats}}, WeightFormat::kQ8_0, x), expected);
    expect_same_rows(product(context(), {{.weight = floats.as_q8_0()}}, WeightFormat::kQ8_0, x),
                     expected);
  }
}

// |-128| does not fit a signed byte, and pairs of products must fit 16 bits: each extreme of the
// weight against each extreme of x, whose sums are exact.
TEST_P(LinearQ8Test, ExtremeQuantsDoNotOverflow) {
  constexpr std::int64_t kK = 96;
  for (const int w : {-128, -127, -1, 1, 127}) {
    for (const float sign : {-1.0f, 1.0f}) {
      for (const bool alternate : {false, true}) {
        std::vector<Q8WeightBlock> blocks(40 * kK / kQ8BlockSize);
        Grid x(3, kK);
        for (std::int64_t i = 0; i < kK; ++i) {
          const float flip = alternate && i % 2 == 1 ? -1.0f : 1.0f;
          for (std::int64_t r = 0; r < 3; ++r) x.at(r, i) = 127.0f * sign * flip;
          for (std::int64_t n = 0; n < 40; ++n) {
            Q8WeightBlock& block = blocks[static_cast<std::size_t>(n * kK / 32 + i / 32)];
            block.scale = to_float16(0.5f);
            block.quants[i % 32] = static_cast<std::int8_t>(w);
          }
        }
        const Grid got =
            product(context(), {{.weight = q8_tensor(40, kK, blocks)}}, WeightFormat::kQ8_0, x);
        const float expected =
            alternate ? 0.0f
                      : 127.0f * sign * 0.5f * static_cast<float>(w) * static_cast<float>(kK);
        for (std::int64_t r = 0; r < 3; ++r) {
          for (std::int64_t n = 0; n < 40; ++n) ASSERT_EQ(got.at(r, n), expected) << w;
        }
      }
    }
  }
}

TEST_P(LinearQ8Test, ScalesThatAreNotFiniteAreNanInTheirRowOnly) {
  for (const int bits : {0x7C00, 0xFC00, 0x7E00}) {
    for (const WeightFormat format :
         {WeightFormat::kQ8_0, WeightFormat::kF32, WeightFormat::kBF16}) {
      auto blocks = random_q8_blocks(20, 70, 6);
      blocks[11 * 3 + 1].scale.bits = static_cast<std::uint16_t>(bits);
      for (const float value : {0.0f, 1.0f}) {
        Grid x(4, 70);
        for (std::int64_t r = 0; r < 4; ++r) {
          for (std::int64_t i = 0; i < 70; ++i) x.at(r, i) = value;
        }
        const Grid got = product(context(), {{.weight = q8_tensor(20, 70, blocks)}}, format, x);
        for (std::int64_t n = 0; n < 20; ++n) {
          for (std::int64_t r = 0; r < 4; ++r) {
            ASSERT_EQ(std::isnan(got.at(r, n)), n == 11) << "row " << n << ' ' << got.at(r, n);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lattice
