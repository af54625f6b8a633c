#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "lattice/error.h"

namespace lattice {
namespace {

/// Keeps bytes at any alignment, and records what was discarded.
class TestStorage : public TensorStorage {
 public:
  explicit TestStorage(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  const std::byte* data() const { return bytes_.data(); }
  void discard(std::span<const std::byte> bytes) const noexcept override { discarded_ = bytes; }
  std::span<const std::byte> discarded() const { return discarded_; }

 private:
  std::vector<std::byte> bytes_;
  mutable std::span<const std::byte> discarded_;
};

template <typename T, std::size_t N>
Tensor make(DType dtype, const std::array<T, N>& values, std::size_t misalignment = 0) {
  std::vector<std::byte> bytes(misalignment + sizeof(values));
  std::memcpy(bytes.data() + misalignment, values.data(), sizeof(values));
  auto storage = std::make_shared<const TestStorage>(std::move(bytes));
  const std::byte* data = storage->data() + misalignment;
  return Tensor(dtype, {static_cast<std::int64_t>(N)}, data, std::move(storage));
}

TEST(DType, NamesAndSizesRoundTrip) {
  constexpr std::array<std::pair<DType, std::size_t>, 10> kSizes = {{{DType::kF64, 8},
                                                                     {DType::kF32, 4},
                                                                     {DType::kF16, 2},
                                                                     {DType::kBF16, 2},
                                                                     {DType::kI64, 8},
                                                                     {DType::kI32, 4},
                                                                     {DType::kI16, 2},
                                                                     {DType::kI8, 1},
                                                                     {DType::kU8, 1},
                                                                     {DType::kBool, 1}}};
  for (const auto& [dtype, size] : kSizes) {
    EXPECT_EQ(dtype_size(dtype), size);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
  }
  for (const char* name : {"", "f32", "F8_E4M3", "F32 ", "U16"}) EXPECT_FALSE(parse_dtype(name));
}

TEST(Tensor, ConvertsEveryFloatTypeAtAnyAlignment) {
  for (std::size_t misalignment = 0; misalignment < 8; ++misalignment) {
    std::array<float, 2> out = {};
    make<double, 4>(DType::kF64, {0.1, -2.0, 1e300, 4.0}, misalignment).copy_to_f32(1, out);
    EXPECT_EQ(out[0], -2.0f);
    EXPECT_TRUE(std::isinf(out[1]));
    make<float, 3>(DType::kF32, {1.5f, -0.0f, 3.0f}, misalignment).copy_to_f32(1, out);
    EXPECT_TRUE(out[0] == 0.0f && std::signbit(out[0]));
    EXPECT_EQ(out[1], 3.0f);
    make<std::uint16_t, 2>(DType::kF16, {0x3c00, 0xc001}, misalignment).copy_to_f32(0, out);
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[1], -2.001953125f);
    make<std::uint16_t, 2>(DType::kBF16, {0x3f80, 0xc040}, misalignment).copy_to_f32(0, out);
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[1], -3.0f);
  }
}

TEST(Tensor, IntegersAreNotWeights) {
  std::array<float, 1> out = {};
  EXPECT_THROW((make<std::int32_t, 1>(DType::kI32, {1}).copy_to_f32(0, out)), LatticeError);
  EXPECT_THROW((make<std::uint8_t, 1>(DType::kBool, {1}).copy_to_f32(0, out)), LatticeError);
}

TEST(Tensor, RefusesElementsOutsideItsShape) {
  const Tensor tensor = make<float, 3>(DType::kF32, {1, 2, 3});
  std::array<float, 2> out = {};
  EXPECT_THROW(tensor.copy_to_f32(2, out), LatticeError);
  EXPECT_THROW(tensor.copy_to_f32(-1, out), LatticeError);
  EXPECT_THROW(tensor.copy_to_f32(std::numeric_limits<std::int64_t>::max(), out), LatticeError);
  EXPECT_THROW(tensor.slice_rows(2, 4), LatticeError);
  EXPECT_THROW(tensor.slice_rows(2, 1), LatticeError);
  EXPECT_THROW(tensor.slice_rows(-1, 1), LatticeError);
  EXPECT_THROW(tensor.dim(1), std::out_of_range);
}

TEST(Tensor, F32ViewNeedsAlignedF32) {
  const std::array<float, 2> values = {1, 2};
  EXPECT_EQ(make(DType::kF32, values).f32()[1], 2.0f);
  EXPECT_FALSE(make(DType::kF32, values, 1).is_aligned_f32());
  EXPECT_THROW(make(DType::kF32, values, 1).f32(), LatticeError);
  EXPECT_THROW((make<std::uint16_t, 2>(DType::kBF16, {0, 0}).f32()), LatticeError);
}

TEST(Tensor, SlicesShareTheStorage) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::from_floats({3, 2}, values);
  const Tensor rows = tensor.slice_rows(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows.f32(), tensor.f32() + 2);
  EXPECT_EQ(rows.slice_rows(1, 2).f32()[1], 6.0f);
  EXPECT_EQ(tensor.slice_rows(3, 3).num_elements(), 0);
  EXPECT_THROW(Tensor::from_floats({2, 2}, values), LatticeError);
}

TEST(Tensor, DiscardNamesItsOwnBytes) {
  auto storage = std::make_shared<const TestStorage>(std::vector<std::byte>(16));
  const Tensor tensor(DType::kF32, {2, 2}, storage->data(), storage);
  tensor.slice_rows(1, 2).discard();
  EXPECT_EQ(storage->discarded().data(), storage->data() + 8);
  EXPECT_EQ(storage->discarded().size(), 8u);
  Tensor().discard();
}

TEST(Tensor, ScalarsAndEmptyShapes) {
  EXPECT_EQ(num_elements({}), 1);
  EXPECT_EQ(num_elements({3, 0, 2}), 0);
  EXPECT_EQ(shape_string({}), "[]");
  EXPECT_EQ(shape_string({30522, 384}), "[30522, 384]");
  EXPECT_TRUE(Tensor().empty());
}

}  // namespace
}  // namespace lattice
