#include "engine/generation/draft_state.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lattice {
namespace {

constexpr std::size_t kHidden = 2;

/// Rows that say which token they belong to.
std::vector<float> rows(std::size_t begin, std::size_t count) {
  std::vector<float> values(count * kHidden);
  std::iota(values.begin(), values.end(), static_cast<float>(begin * kHidden));
  return values;
}

class DraftStates : public testing::Test {
 protected:
  /// Feeds `count` pending tokens to the head.
  void feed(std::size_t count) {
    state_.state().begin_pass();
    state_.state().end_pass(static_cast<std::int64_t>(count));
    state_.commit(count);
  }
  void expect_pending(std::size_t begin, std::size_t count) {
    EXPECT_EQ(state_.first_pending(), begin);
    EXPECT_EQ(state_.num_tokens(), begin + count);
    const auto pending = state_.pending();
    EXPECT_EQ(std::vector<float>(pending.begin(), pending.end()), rows(begin, count));
  }

  DraftState state_{std::make_unique<DecoderState>(DecoderStateShape{}), kHidden};
};

TEST_F(DraftStates, KeepsWhatIsPending) {
  state_.append(0, rows(0, 3));
  expect_pending(0, 3);
  feed(2);
  expect_pending(2, 1);
  state_.append(3, rows(3, 2));
  expect_pending(2, 3);
}

TEST_F(DraftStates, ForgetsPendingTokensFirst) {
  state_.append(0, rows(0, 6));
  feed(4);
  state_.truncate(5);
  expect_pending(4, 1);
  state_.truncate(4);
  expect_pending(4, 0);
  state_.truncate(3);
  expect_pending(3, 0);
  EXPECT_EQ(state_.state().num_tokens(), 3);
  state_.truncate(9);
  expect_pending(3, 0);
}

TEST_F(DraftStates, RowsThatComeAgainReplaceTheOldOnes) {
  state_.append(0, rows(0, 4));
  feed(3);
  state_.append(2, rows(2, 2));
  expect_pending(2, 2);
  EXPECT_EQ(state_.state().num_tokens(), 2);
}

TEST_F(DraftStates, StartsAnewBehindAGap) {
  state_.append(0, rows(0, 4));
  feed(3);
  state_.append(6, rows(6, 2));
  expect_pending(6, 2);
  EXPECT_EQ(state_.state().num_tokens(), 0);
  feed(1);
  state_.truncate(3);  // before its first token
  EXPECT_EQ(state_.state().num_tokens(), 0);
  expect_pending(3, 0);
}

TEST_F(DraftStates, CopiesAreIndependent) {
  state_.append(0, rows(0, 4));
  feed(2);
  const std::unique_ptr<DraftState> copy = state_.copy();
  state_.truncate(0);
  EXPECT_EQ(copy->num_tokens(), 4u);
  EXPECT_EQ(copy->first_pending(), 2u);
  EXPECT_EQ(copy->state().num_tokens(), 2);
}

}  // namespace
}  // namespace lattice
