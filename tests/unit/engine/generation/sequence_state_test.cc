// What a conversation's state keeps when a pass over it was given up.
#include "engine/generation/sequence_state.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

using Ids = std::vector<std::int32_t>;

const DecoderStateShape kShape = {KvShape{.num_heads = 2, .head_dim = 2}};

std::unique_ptr<DecoderState> empty_state() { return std::make_unique<DecoderState>(kShape); }

/// A pass over `state` that comes to its end.
void feed(DecoderState& state, std::int64_t count) {
  state.begin_pass();
  state.end_pass(count);
}

class SequenceStateTest : public testing::Test {
 protected:
  SequenceStateTest() : sequence_(empty_state()) {
    sequence_.set_draft(std::make_unique<DraftState>(empty_state(), 1));
    feed(sequence_.state(), 3);
    sequence_.append(Ids{1, 2, 3});
  }

  SequenceState sequence_;
};

TEST_F(SequenceStateTest, ADraftHeadThatCameToItsEndIsKept) {
  feed(sequence_.draft()->state(), 1);
  EXPECT_EQ(sequence_.rewind_to(Ids{1, 2, 4}, empty_state()), 2u);
  EXPECT_NE(sequence_.draft(), nullptr);
}

TEST_F(SequenceStateTest, ADraftHeadThatFailedInAPassIsDroppedAndTheTextKept) {
  sequence_.draft()->state().begin_pass();
  EXPECT_EQ(sequence_.rewind_to(Ids{1, 2, 3, 4}, empty_state()), 3u);
  EXPECT_EQ(sequence_.draft(), nullptr) << "the next answer makes a new one";
}

TEST_F(SequenceStateTest, ADecoderThatFailedInAPassBeginsAnew) {
  sequence_.state().begin_pass();
  EXPECT_EQ(sequence_.rewind_to(Ids{1, 2, 3, 4}, empty_state()), 0u);
  EXPECT_TRUE(sequence_.state().usable());
  EXPECT_EQ(sequence_.num_tokens(), 0u);
}

}  // namespace
}  // namespace lattice
