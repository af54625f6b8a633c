// What a Gated DeltaNet layer keeps: the convolution's window over chunks, rewinds and copies.
#include "models/delta_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lattice {
namespace {

constexpr std::int64_t kChannels = 3;

DeltaCacheShape shape_of(std::int64_t kernel) {
  return {.rule = {1, 2, 4, 5}, .conv_channels = kChannels, .conv_kernel = kernel};
}

/// A cache together with all inputs that it was given.
struct Checked {
  explicit Checked(std::int64_t kernel_in) : kernel(kernel_in), cache(shape_of(kernel_in)) {}

  std::int64_t num_tokens() const { return static_cast<std::int64_t>(inputs.size()) / kChannels; }

  /// The op's part of a pass is the count of the chunk's tokens.
  void append(std::int64_t count, float writer = 1) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < count * kChannels; ++i) {
      x.push_back(writer * 1e5F + static_cast<float>(num_tokens() * 10 + i));
    }
    cache.append_inputs(ConstMatrix(x.data(), count, kChannels));
    inputs.insert(inputs.end(), x.begin(), x.end());
    if (count > 0) {
      cache.rule().num_pending = (cache.num_pending() + count - 1) % kDeltaRuleChunk + 1;
    }
  }

  void drop(std::int64_t count) {
    inputs.resize(inputs.size() - static_cast<std::size_t>(count * kChannels));
    cache.truncate_pending(cache.num_pending() - count);
  }

  void check() const {
    const ConstMatrix history = cache.history();
    ASSERT_EQ(history.rows, kernel - 1);
    ASSERT_EQ(history.cols, kChannels);
    for (std::int64_t row = 0; row < history.rows; ++row) {
      const std::int64_t token = num_tokens() - history.rows + row;
      for (std::int64_t c = 0; c < kChannels; ++c) {
        const float want =
            token < 0 ? 0.0F : inputs[static_cast<std::size_t>(token * kChannels + c)];
        ASSERT_EQ(history.row(row)[c], want) << "token " << token << " of " << num_tokens();
      }
    }
  }

  std::int64_t kernel;
  DeltaCache cache;
  std::vector<float> inputs;
};

TEST(DeltaCache, TheWindowHoldsTheLastInputsInAnyPieces) {
  for (const std::int64_t kernel : {1, 2, 4, 64, 65, 70}) {
    for (const std::int64_t piece : {1, 3, 63, 64, 65, 127, 128, 200}) {
      Checked checked(kernel);
      checked.check();
      for (int i = 0; i < 5; ++i) {
        checked.append(piece);
        checked.check();
      }
      checked.append(0);
      checked.check();
    }
  }
}

TEST(DeltaCache, RewindsWithinTheChunk) {
  std::mt19937 random(3);
  for (const std::int64_t kernel : {2, 4, 7}) {
    Checked checked(kernel);
    for (int i = 0; i < 400; ++i) {
      checked.append(static_cast<std::int64_t>(random() % 80), static_cast<float>(i % 8));
      checked.check();
      if (checked.cache.num_pending() == 0) continue;
      checked.drop(static_cast<std::int64_t>(random()) % (checked.cache.num_pending() + 1));
      checked.check();
    }
  }
}

TEST(DeltaCache, CopiesAreIndependent) {
  for (const std::int64_t tokens : {0, 1, 63, 64, 65, 130}) {
    Checked original(4);
    original.append(tokens);
    std::fill_n(original.cache.rule().matrix, 4, 7.0F);
    Checked copy = original;
    copy.check();
    EXPECT_EQ(copy.cache.num_pending(), original.cache.num_pending());
    EXPECT_EQ(copy.cache.rule().matrix[0], 7.0F);
    EXPECT_NE(copy.cache.rule().matrix, original.cache.rule().matrix);
    EXPECT_NE(copy.cache.rule().keys, original.cache.rule().keys);
    EXPECT_NE(copy.cache.rule().deltas, original.cache.rule().deltas);
    EXPECT_NE(copy.cache.rule().decays, original.cache.rule().decays);
    copy.append(3, 2);
    original.check();
    original.append(100, 3);
    copy.check();
    original.check();
  }
}

TEST(DeltaCache, BeginsEmpty) {
  DeltaCache cache(shape_of(4));
  const DeltaRuleState& state = cache.rule();
  const auto all_zero = [](const auto* values, std::int64_t count) {
    return std::all_of(values, values + count, [](auto value) { return value == 0; });
  };
  EXPECT_EQ(cache.num_pending(), 0);
  EXPECT_TRUE(all_zero(state.matrix, std::int64_t{2} * 4 * 16));
  EXPECT_TRUE(all_zero(state.keys, 4 * kDeltaRuleChunk));
  EXPECT_TRUE(all_zero(state.deltas, 2 * kDeltaRuleChunk * 16));
  EXPECT_TRUE(all_zero(state.decays, 2 * kDeltaRuleChunk));
  EXPECT_GE(cache.num_bytes(), static_cast<std::size_t>(2 * 4 * 16 + 4 * 64 + 2 * 64 * 16) * 4);
}

TEST(DeltaCache, MovesKeepTheState) {
  Checked checked(4);
  checked.append(70);
  const float* matrix = checked.cache.rule().matrix;
  DeltaCache moved = std::move(checked.cache);
  EXPECT_EQ(moved.rule().matrix, matrix);
  EXPECT_EQ(moved.num_pending(), 6);
}

}  // namespace
}  // namespace lattice
