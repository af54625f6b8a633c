// Tensors stored in Q8_0, and floats read as if they were.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "lattice/error.h"
#include "support/q8_tensors.h"

namespace lattice {
namespace {

constexpr std::array<std::int64_t, 8> kColumns = {1, 20, 31, 32, 33, 64, 80, 100};

std::vector<float> all_values(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.num_elements()));
  tensor.copy_to_f32(0, values);
  return values;
}

void expect_same_bits(std::span<const float> got, std::span<const float> expected) {
  ASSERT_EQ(got.size(), expected.size());
  if (!got.empty()) EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size_bytes()), 0);
}

void expect_same_blocks(std::span<const Q8WeightBlock> got,
                        std::span<const Q8WeightBlock> expected) {
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size_bytes()), 0);
}

std::vector<float> random_values(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

TEST(Q8Tensor, IsNoDtypeOfSafetensors) {
  EXPECT_EQ(dtype_name(DType::kQ8_0), "Q8_0");
  EXPECT_FALSE(parse_dtype("Q8_0"));
  EXPECT_EQ(dtype_size(DType::kQ8_0), 0u);
  EXPECT_EQ(row_bytes(DType::kQ8_0, 0), 0u);
  EXPECT_EQ(row_bytes(DType::kQ8_0, 1), 34u);
  EXPECT_EQ(row_bytes(DType::kQ8_0, 32), 34u);
  EXPECT_EQ(row_bytes(DType::kQ8_0, 33), 68u);
  EXPECT_EQ(row_bytes(DType::kBF16, 33), 66u);
  EXPECT_TRUE(is_floating_point(DType::kQ8_0));
  EXPECT_FALSE(is_floating_point(DType::kU8));
}

TEST(Q8Tensor, EveryElementIsScaleTimesQuant) {
  for (const std::int64_t k : kColumns) {
    const auto blocks = random_q8_blocks(5, k, static_cast<std::uint32_t>(k));
    for (std::size_t offset = 0; offset < 4; ++offset) {
      const Tensor tensor = q8_tensor(5, k, blocks, offset);
      EXPECT_EQ(tensor.num_elements(), 5 * k);
      EXPECT_EQ(tensor.num_bytes(), blocks.size() * 34);
      EXPECT_EQ(tensor.bytes().size(), blocks.size() * 34);
      EXPECT_TRUE(tensor.has_blocks());
      EXPECT_FALSE(tensor.is_aligned_f32());
      const std::vector<float> values = all_values(tensor);
      for (std::int64_t i = 0; i < 5 * k; ++i) {
        const Q8WeightBlock& block =
            blocks[static_cast<std::size_t>(i / k * num_q8_blocks(k) + i % k / 32)];
        const float expected =
            to_float(block.scale) *
            static_cast<float>(block.quants[static_cast<std::size_t>(i % k % 32)]);
        ASSERT_EQ(values[static_cast<std::size_t>(i)], expected) << "K " << k << " element " << i;
      }
    }
  }
}

TEST(Q8Tensor, EveryRangeOfElements) {
  for (const std::int64_t k : kColumns) {
    const Tensor tensor = q8_tensor(3, k, random_q8_blocks(3, k, 1));
    const std::vector<float> all = all_values(tensor);
    for (std::size_t begin = 0; begin <= all.size(); begin += 7) {
      for (std::size_t end = begin; end <= all.size(); end += 13) {
        std::vector<float> part(end - begin);
        tensor.copy_to_f32(static_cast<std::int64_t>(begin), part);
        expect_same_bits(part, std::span(all).subspan(begin, end - begin));
      }
    }
    std::vector<float> two(2);
    EXPECT_THROW(tensor.copy_to_f32(3 * k - 1, two), LatticeError);
  }
}

TEST(Q8Tensor, BlocksComeOutAsTheyAre) {
  for (const std::int64_t k : kColumns) {
    const auto blocks = random_q8_blocks(6, k, 2);
    const Tensor tensor = q8_tensor(6, k, blocks, 1);
    std::vector<Q8WeightBlock> got(blocks.size());
    tensor.copy_to_q8_0(0, got);
    expect_same_blocks(got, blocks);
    const auto row = static_cast<std::size_t>(num_q8_blocks(k));
    got.resize(2 * row);
    tensor.copy_to_q8_0(3, got);
    expect_same_blocks(got, std::span(blocks).subspan(3 * row, 2 * row));
    EXPECT_THROW(tensor.copy_to_q8_0(5, got), LatticeError);
    EXPECT_THROW(tensor.copy_to_q8_0(-1, got), LatticeError);
    got.resize(row + 1);
    if (row > 1) EXPECT_THROW(tensor.copy_to_q8_0(0, got), LatticeError);
  }
}

TEST(Q8Tensor, SlicesAreRows) {
  for (const std::int64_t k : kColumns) {
    const Tensor tensor = q8_tensor(5, k, random_q8_blocks(5, k, 3), 3);
    const Tensor rows = tensor.slice_rows(1, 4);
    EXPECT_EQ(rows.shape(), (Shape{3, k}));
    EXPECT_EQ(rows.bytes().data(), tensor.bytes().data() + tensor.num_bytes() / 5);
    EXPECT_EQ(rows.num_bytes(), tensor.num_bytes() / 5 * 3);
    const std::vector<float> all = all_values(tensor);
    expect_same_bits(all_values(rows), std::span(all).subspan(static_cast<std::size_t>(k),
                                                              static_cast<std::size_t>(3 * k)));
    EXPECT_EQ(tensor.slice_rows(5, 5).num_bytes(), 0u);
  }
}

TEST(Q8Tensor, MustBeAMatrix) {
  EXPECT_THROW(Tensor(DType::kQ8_0, {4}, nullptr, nullptr), LatticeError);
  EXPECT_THROW(Tensor(DType::kQ8_0, {1, 2, 3}, nullptr, nullptr), LatticeError);
  const std::array<float, 4> values = {1, 2, 3, 4};
  EXPECT_THROW(Tensor::from_floats({4}, values).as_q8_0(), LatticeError);
  EXPECT_THROW(Tensor(DType::kU8, {2, 2}, nullptr, nullptr).as_q8_0(), LatticeError);
}

TEST(Q8Tensor, ScalesThatAreNotFiniteAreNanThroughout) {
  for (const int bits : {0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFFFF}) {
    auto blocks = random_q8_blocks(1, 40, 4);
    blocks[0].scale.bits = static_cast<std::uint16_t>(bits);
    blocks[0].quants[3] = 0;
    const Tensor tensor = q8_tensor(1, 40, blocks);
    const std::vector<float> values = all_values(tensor);
    for (std::size_t i = 0; i < 32; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
    for (std::size_t i = 32; i < 40; ++i) EXPECT_TRUE(std::isfinite(values[i])) << i;
    std::vector<Q8WeightBlock> read(2);
    tensor.copy_to_q8_0(0, read);
    EXPECT_TRUE(std::isnan(to_float(read[0].scale)));
    EXPECT_EQ(read[1].scale.bits, blocks[1].scale.bits);
  }
}

// What is quantized when read, and what was quantized and stored, cannot be told apart.
TEST(Q8Tensor, FloatsSeenAsBlocksEqualStoredBlocks) {
  for (const std::int64_t k : kColumns) {
    const std::vector<float> values = random_values(4 * k, 5);
    const Tensor floats = Tensor::from_floats({4, k}, values);
    std::vector<Q8WeightBlock> blocks(static_cast<std::size_t>(4 * num_q8_blocks(k)));
    floats.copy_to_q8_0(0, blocks);
    const Tensor stored = q8_tensor(4, k, blocks);
    const Tensor seen = floats.as_q8_0();
    EXPECT_EQ(seen.dtype(), DType::kF32);
    EXPECT_FALSE(seen.is_aligned_f32());
    EXPECT_THROW(seen.f32(), LatticeError);
    EXPECT_EQ(seen.num_bytes(), floats.num_bytes());
    expect_same_bits(all_values(seen), all_values(stored));
    expect_same_bits(all_values(seen.slice_rows(1, 3)), all_values(stored.slice_rows(1, 3)));
    expect_same_bits(all_values(stored.as_q8_0()), all_values(stored));
    std::vector<Q8WeightBlock> again(blocks.size());
    seen.copy_to_q8_0(0, again);
    expect_same_blocks(again, blocks);
    expect_same_bits(all_values(floats), values);
  }
}

}  // namespace
}  // namespace lattice
