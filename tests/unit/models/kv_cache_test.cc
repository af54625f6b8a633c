// Pages of keys and values: full ones are shared and never change, copies do not see each other.
#include "models/kv_cache.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace lattice {
namespace {

constexpr KvShape kShape{2, 3};
constexpr std::int64_t kDim = kShape.dim();

/// Rows as token `position` of a writer would have them.
std::vector<float> rows(std::int64_t position, std::int64_t count, float writer) {
  std::vector<float> values;
  for (std::int64_t t = position; t < position + count; ++t) {
    for (std::int64_t c = 0; c < 2 * kDim; ++c) {
      values.push_back(writer * 1e5F + static_cast<float>(t * 10 + c));
    }
  }
  return values;
}

/// A cache together with what it must hold.
struct Checked {
  KvCache cache{kShape};
  std::vector<float> expected;

  Checked() = default;
  Checked(const Checked&) = default;

  std::int64_t num_tokens() const {
    return static_cast<std::int64_t>(expected.size()) / (2 * kDim);
  }

  void write(std::int64_t position, std::int64_t count, float writer = 1) {
    const std::vector<float> values = rows(position, count, writer);
    cache.write(position, ConstMatrix(values.data(), count, 2 * kDim));
    expected.resize(static_cast<std::size_t>(position * 2 * kDim));
    expected.insert(expected.end(), values.begin(), values.end());
  }
  void append(std::int64_t count, float writer = 1) { write(num_tokens(), count, writer); }

  void check() const {
    const KeysValues view = cache.view(num_tokens());
    for (std::int64_t t = 0; t < num_tokens(); ++t) {
      const float* want = expected.data() + t * 2 * kDim;
      for (std::int64_t h = 0; h < kShape.num_heads; ++h, want += kShape.head_dim) {
        const float* want_end = want + kShape.head_dim;
        ASSERT_TRUE(std::equal(want, want_end, view.key(t, h))) << "token " << t;
        ASSERT_TRUE(std::equal(want + kDim, want_end + kDim, view.value(t, h))) << "token " << t;
      }
    }
  }
};

TEST(KvCache, HoldsWhatWasWrittenInAnyPieces) {
  for (const std::int64_t piece : {1, 7, 31, 32, 33, 500, 512, 513, 1600}) {
    Checked checked;
    while (checked.num_tokens() < 1600) {
      checked.append(std::min<std::int64_t>(piece, 1600 - checked.num_tokens()));
      if (piece > 30) checked.check();
    }
    checked.check();
  }
}

TEST(KvCache, GrowsWithTheSequence) {
  Checked checked;
  EXPECT_EQ(checked.cache.num_bytes(), 0u);
  checked.append(1);
  const std::size_t row = 2 * kDim * sizeof(float);
  EXPECT_GE(checked.cache.num_bytes(), row);
  EXPECT_LE(checked.cache.num_bytes(), 64 * row);
  checked.append(511);
  EXPECT_EQ(checked.cache.num_bytes(), kKvPageTokens * row);
  checked.append(1);
  EXPECT_LE(checked.cache.num_bytes(), (kKvPageTokens + 64) * row);
}

TEST(KvCache, CopiesShareFullPages) {
  Checked original;
  original.append(1100);
  const Checked copy = original;
  copy.check();
  const KeysValues ours = original.cache.view(1100), theirs = copy.cache.view(1100);
  EXPECT_EQ(ours.key(0, 0), theirs.key(0, 0));
  EXPECT_EQ(ours.key(1023, 0), theirs.key(1023, 0));
  EXPECT_NE(ours.key(1024, 0), theirs.key(1024, 0));
}

// Every place to go back to, in either of two copies.
TEST(KvCache, CopiesAreIndependent) {
  for (const std::int64_t tokens : {10, 511, 512, 513, 1024, 1030}) {
    for (const std::int64_t back : {0, 5, 500, 511, 512, 513, 1000, 1024}) {
      if (back > tokens) continue;
      Checked original;
      original.append(tokens);
      Checked copy = original;
      copy.write(back, 3, 2);
      original.check();
      original.write(back, 600, 3);
      copy.check();
      Checked second = copy;
      copy.append(700, 4);
      second.append(2, 5);
      copy.check();
      second.check();
      original.check();
    }
  }
}

TEST(KvCache, RewritesInsideOfAFullPage) {
  Checked checked;
  checked.append(1300);
  const Checked before = checked;
  checked.write(100, 1, 2);  // drops the pages behind it
  checked.check();
  EXPECT_LT(checked.cache.num_bytes(), before.cache.num_bytes());
  const Checked between = checked;  // its last page is the rewritten one
  checked.append(900, 3);
  checked.check();
  between.check();
  before.check();
}

TEST(KvCache, MovesKeepThePages) {
  Checked checked;
  checked.append(700);
  const float* first = checked.cache.view(700).key(0, 0);
  const KvCache moved = std::move(checked.cache);
  EXPECT_EQ(moved.view(700).key(0, 0), first);
}

TEST(KvCache, RefusesGapsAndOtherWidths) {
  Checked checked;
  const std::vector<float> values(100);
  const auto write = [&](std::int64_t position, std::int64_t cols) {
    checked.cache.write(position, ConstMatrix(values.data(), 1, cols));
  };
  EXPECT_THROW(write(1, 2 * kDim), LatticeError);
  EXPECT_THROW(write(512, 2 * kDim), LatticeError);
  EXPECT_THROW(write(0, kDim), LatticeError);
  checked.append(5);
  EXPECT_THROW(write(6, 2 * kDim), LatticeError);
  EXPECT_THROW(write(512, 2 * kDim), LatticeError);
  checked.append(507);
  EXPECT_THROW(write(513, 2 * kDim), LatticeError);
  EXPECT_THROW(write(1024, 2 * kDim), LatticeError);
  checked.check();
  EXPECT_NO_THROW(write(512, 2 * kDim));
}

}  // namespace
}  // namespace lattice
