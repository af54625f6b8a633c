#include "engine/generation/ngram_drafter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "lattice/error.h"
#include "support/sanitizer.h"

namespace lattice {
namespace {

using Ids = std::vector<std::int32_t>;

Ids propose(std::size_t min_ngram, std::size_t max_ngram, const Ids& history, std::size_t count) {
  NgramDrafter drafter(min_ngram, max_ngram);
  drafter.accept(history);
  return drafter.propose(count);
}

TEST(NgramDrafter, ProposesWhatFollowedTheLastOccurrence) {
  EXPECT_EQ(propose(2, 3, {1, 2, 3, 4, 5, 9, 1, 2}, 3), (Ids{3, 4, 5}));
  EXPECT_EQ(propose(2, 2, {1, 2, 7, 1, 2, 8, 1, 2}, 1), (Ids{8}));
  EXPECT_EQ(propose(1, 1, {5, 6, 5}, 10), (Ids{6, 5}));
  EXPECT_EQ(propose(1, 2, {5, 5}, 10), (Ids{5}));
}

TEST(NgramDrafter, LongerNgramsComeFirst) {
  // The last two tokens were seen later, the last three earlier.
  EXPECT_EQ(propose(2, 3, {1, 2, 3, 7, 0, 2, 3, 8, 1, 2, 3}, 1), (Ids{7}));
  EXPECT_EQ(propose(2, 2, {1, 2, 3, 7, 0, 2, 3, 8, 1, 2, 3}, 1), (Ids{8}));
}

TEST(NgramDrafter, ProposesNothingWithoutAMatch) {
  EXPECT_EQ(propose(2, 3, {}, 5), Ids{});
  EXPECT_EQ(propose(2, 3, {1}, 5), Ids{});
  EXPECT_EQ(propose(2, 3, {1, 2}, 5), Ids{});
  EXPECT_EQ(propose(2, 3, {1, 2, 3, 2}, 5), Ids{});
  EXPECT_EQ(propose(1, 1, {1, 2, 1}, 0), Ids{});
}

TEST(NgramDrafter, RefusesUselessLengths) {
  EXPECT_THROW(NgramDrafter(0, 2), LatticeError);
  EXPECT_THROW(NgramDrafter(3, 2), LatticeError);
  EXPECT_THROW(NgramDrafter(1, 17), LatticeError);
}

Ids search(const Ids& history, std::size_t min_ngram, std::size_t max_ngram, std::size_t count) {
  const auto at = [&](std::size_t i) { return history.begin() + static_cast<std::ptrdiff_t>(i); };
  for (std::size_t n = max_ngram; n >= min_ngram; --n) {
    for (std::size_t end = history.size() - 1; n < history.size() && end >= n; --end) {
      if (!std::equal(at(end - n), at(end), at(history.size() - n))) continue;
      return {at(end), at(std::min(history.size(), end + count))};
    }
  }
  return {};
}

TEST(NgramDrafter, AgreesWithASearchOfTheHistory) {
  std::mt19937_64 random(1);
  int num_proposed = 0, num_empty = 0;
  for (int i = 0; i < 300; ++i) {
    const std::size_t min_ngram = 1 + random() % 3;
    const std::size_t max_ngram = min_ngram + random() % 3;
    const std::uint64_t num_tokens = 2 + random() % 12;
    NgramDrafter drafter(min_ngram, max_ngram);
    Ids history;
    for (int step = 0; step < 60; ++step) {
      const auto id = static_cast<std::int32_t>(random() % num_tokens);
      drafter.accept(std::span(&id, 1));
      history.push_back(id);
      const std::size_t count = random() % 6;
      const Ids expected = search(history, min_ngram, max_ngram, count);
      ASSERT_EQ(drafter.propose(count), expected);
      ++(expected.empty() ? num_empty : num_proposed);
    }
    EXPECT_EQ(drafter.num_accepted(), history.size());
  }
  EXPECT_GT(num_proposed, 3000);
  EXPECT_GT(num_empty, 3000);
}

TEST(NgramDrafter, ALongHistoryIsFast) {
  NgramDrafter drafter(2, 4);
  std::mt19937_64 random(1);
  const auto start = std::chrono::steady_clock::now();
  std::size_t num_proposed = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto id = static_cast<std::int32_t>(random() % 300);
    drafter.accept(std::span(&id, 1));
    num_proposed += drafter.propose(8).size();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(num_proposed, 100'000u);
  EXPECT_LT(elapsed.count(), kSanitized ? 60 : 10);  // quadratic: minutes
}

}  // namespace
}  // namespace lattice
