#include "engine/batcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lattice {
namespace {

TEST(Batcher, SortsByLengthInsideTheBudget) {
  const std::vector<std::size_t> lengths = {3, 8, 0, 5, 8, 2};
  const auto batches = make_batches(lengths, 16);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0], (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(batches[1], (std::vector<std::size_t>{3, 0, 5}));
}

TEST(Batcher, AnItemOverTheBudgetIsAlone) {
  const auto batches = make_batches(std::vector<std::size_t>{100, 4, 4}, 10);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0], std::vector<std::size_t>{0});
}

TEST(Batcher, LongItemsKeepToThemselves) {
  const std::vector<std::size_t> lengths = {9, 4, 8, 5, 7};
  const auto batches = make_batches(lengths, 100, 7);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0], (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(batches[1], (std::vector<std::size_t>{4, 3, 1}));
}

TEST(Batcher, EveryItemComesOnceAndNoBatchExceedsTheBudget) {
  std::mt19937 generator(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::size_t> lengths(generator() % 200);
    for (std::size_t& length : lengths) length = 1 + generator() % 600;
    const std::size_t budget = 1 + generator() % 3000;
    std::vector<std::size_t> seen;
    for (const auto& batch : make_batches(lengths, budget)) {
      std::size_t tokens = 0;
      for (const std::size_t i : batch) tokens += lengths[i];
      EXPECT_TRUE(tokens <= budget || batch.size() == 1);
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), lengths.size());
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
  }
}

TEST(Batcher, NothingGivesNoBatch) { EXPECT_TRUE(make_batches({}, 10).empty()); }

}  // namespace
}  // namespace lattice
