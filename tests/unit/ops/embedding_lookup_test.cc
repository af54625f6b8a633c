#include <bit>
#include <cmath>
#include <cstring>

#include "support/q8_tensors.h"
#include "unit/ops/op_test.h"

namespace lattice {
namespace {

// Raw bytes at a chosen offset from an aligned address.
class OffsetStorage : public TensorStorage {
 public:
  OffsetStorage(std::size_t size, std::size_t offset) : bytes_(size + 64 + offset) {
    const auto address = std::bit_cast<std::uintptr_t>(bytes_.data());
    start_ = (64 - address % 64) % 64 + offset;
  }
  std::byte* data() { return bytes_.data() + start_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t start_ = 0;
};

Tensor random_table(DType dtype, std::int64_t vocab, std::int64_t cols, std::size_t offset,
                    Numbers& numbers) {
  const auto count = static_cast<std::size_t>(vocab * cols);
  auto storage = std::make_shared<OffsetStorage>(count * dtype_size(dtype), offset);
  std::byte* out = storage->data();
  for (std::size_t i = 0; i < count; ++i) {
    const float value = numbers.next();
    const auto put = [&out](auto stored) {
      std::memcpy(out, &stored, sizeof(stored));
      out += sizeof(stored);
    };
    if (dtype == DType::kF32) put(value);
    if (dtype == DType::kF64) put(static_cast<double>(value));
    if (dtype == DType::kBF16) put(to_bfloat16(value));
    // Random bits below infinity, subnormals included.
    if (dtype == DType::kF16) put(static_cast<std::uint16_t>(numbers.below(0x7C00)));
  }
  return Tensor(dtype, {vocab, cols}, storage->data(), storage);
}

class EmbeddingLookupTest : public OpTest {};
LATTICE_FOR_EACH_BACKEND(EmbeddingLookupTest);

TEST_P(EmbeddingLookupTest, EveryDtypeSizeAndAlignmentIsExact) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}) {
    for (std::int64_t cols = 1; cols <= 67; ++cols) {
      for (const std::size_t offset : {0u, 1u, 2u, 4u}) {
        Numbers numbers(static_cast<std::uint32_t>(cols));
        const Tensor words = random_table(dtype, 11, cols, offset, numbers);
        const Tensor positions = random_table(DType::kF32, 5, cols, 0, numbers);
        const std::vector<std::int32_t> word_ids{10, 0, 3, 3};
        const std::vector<std::int32_t> position_ids{0, 1, 2, 4};
        const EmbeddingTerm terms[] = {{&words, word_ids}, {&positions, position_ids}};
        Grid got(4, cols);
        Grid expected(4, cols);
        embedding_lookup(context(), {terms, got.view()});
        embedding_lookup(reference(), {terms, expected.view()});
        expect_near(got, expected, 0.0);
        got.expect_margins_untouched();
      }
    }
  }
}

TEST_P(EmbeddingLookupTest, LongRowsAndManyTokens) {
  Numbers numbers(1);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const Tensor words = random_table(dtype, 50, 1027, 2, numbers);
    std::vector<std::int32_t> ids(200);
    for (std::int32_t& id : ids) id = numbers.below(50);
    const EmbeddingTerm terms[] = {{&words, ids}};
    Grid got(200, 1027);
    Grid expected(200, 1027);
    embedding_lookup(context(), {terms, got.view()});
    embedding_lookup(reference(), {terms, expected.view()});
    expect_near(got, expected, 0.0);
  }
}

TEST_P(EmbeddingLookupTest, TablesOfBlocksAreExact) {
  for (std::int64_t cols : {1, 20, 31, 32, 33, 80, 256, 257, 700}) {
    Numbers numbers(static_cast<std::uint32_t>(cols));
    const Tensor stored = q8_tensor(9, cols, random_q8_blocks(9, cols, 7), 1);
    const Tensor seen = random_table(DType::kBF16, 9, cols, 2, numbers).as_q8_0();
    const Tensor positions = random_table(DType::kF32, 5, cols, 0, numbers);
    const std::vector<std::int32_t> word_ids{8, 0, 3, 3};
    const std::vector<std::int32_t> position_ids{0, 1, 2, 4};
    const EmbeddingTerm terms[] = {
        {&positions, position_ids}, {&stored, word_ids}, {&seen, word_ids}};
    Grid got(4, cols);
    Grid expected(4, cols);
    embedding_lookup(context(), {terms, got.view()});
    embedding_lookup(reference(), {terms, expected.view()});
    expect_near(got, expected, 0.0);
    got.expect_margins_untouched();
    std::vector<float> row(static_cast<std::size_t>(cols));
    stored.copy_to_f32(3 * cols, row);
    const EmbeddingTerm alone[] = {{&stored, word_ids}};
    embedding_lookup(context(), {alone, got.view()});
    for (std::int64_t c = 0; c < cols; ++c) {
      ASSERT_EQ(got.at(2, c), row[static_cast<std::size_t>(c)]) << c;
    }
  }
}

TEST_P(EmbeddingLookupTest, EveryHalfFloat) {
  auto storage = std::make_shared<OffsetStorage>(2 * 0x10000, 0);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    std::memcpy(storage->data() + 2 * bits, &stored, 2);
  }
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Tensor table(dtype, {1, 0x10000}, storage->data(), storage);
    const std::vector<std::int32_t> ids{0};
    const EmbeddingTerm terms[] = {{&table, ids}};
    Grid got(1, 0x10000);
    Grid expected(1, 0x10000);
    embedding_lookup(context(), {terms, got.view()});
    embedding_lookup(reference(), {terms, expected.view()});
    expect_near(got, expected, 0.0);
  }
}

TEST_P(EmbeddingLookupTest, NoTokens) {
  Numbers numbers(1);
  const Tensor words = random_table(DType::kF32, 3, 8, 0, numbers);
  const EmbeddingTerm terms[] = {{&words, {}}};
  Grid out(0, 8);
  embedding_lookup(context(), {terms, out.view()});
  out.expect_margins_untouched();
}

}  // namespace
}  // namespace lattice
