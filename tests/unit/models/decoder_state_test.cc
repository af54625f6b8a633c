// The state of a sequence over all layers: how far it goes back, and when it refuses.
#include "models/decoder_state.h"

#include <gtest/gtest.h>

#include "base/result.h"
#include "models/text_model.h"

namespace lattice {
namespace {

const DeltaCacheShape kDelta = {.rule = {1, 2, 4, 5}, .conv_channels = 3, .conv_kernel = 4};

DecoderState attention_only() { return DecoderState({KvShape{1, 2}, KvShape{2, 2}}); }
DecoderState recurrent() { return DecoderState({kDelta, KvShape{1, 2}, kDelta}); }

/// What the layers of recurrent() do in a pass of `count` tokens.
void feed(DecoderState& state, std::int64_t count) {
  state.begin_pass();
  const std::vector<float> values(static_cast<std::size_t>(count) * 4, 1.0F);
  state.attention(1).write(state.num_tokens(), ConstMatrix(values.data(), count, 4));
  for (const std::size_t layer : {0u, 2u}) {
    DeltaCache& cache = state.delta(layer);
    cache.append_inputs(ConstMatrix(values.data(), count, 3));
    cache.rule().num_pending = (cache.num_pending() + count - 1) % kDeltaRuleChunk + 1;
  }
  state.end_pass(count);
}

TEST(DecoderState, RewindLimitIsTheStartOfTheLastTokensChunk) {
  for (const auto& [tokens, limit] :
       {std::pair{1, 0}, {63, 0}, {64, 0}, {65, 64}, {127, 64}, {128, 64}, {129, 128}}) {
    DecoderState at_once = recurrent();
    EXPECT_EQ(at_once.rewind_limit(), 0);
    feed(at_once, tokens);
    EXPECT_EQ(at_once.rewind_limit(), limit) << tokens;
    DecoderState one_by_one = recurrent();
    for (int i = 0; i < tokens; ++i) feed(one_by_one, 1);
    EXPECT_EQ(one_by_one.rewind_limit(), limit) << tokens;
    EXPECT_EQ(one_by_one.num_tokens(), tokens);
  }
}

TEST(DecoderState, AttentionAloneGoesBackToAnyToken) {
  DecoderState state = attention_only();
  EXPECT_TRUE(state.rewindable());
  EXPECT_FALSE(recurrent().rewindable());
  state.begin_pass();
  state.end_pass(1000);
  EXPECT_EQ(state.rewind_limit(), 0);
  state.truncate(999);
  state.truncate(0);
  EXPECT_EQ(state.num_tokens(), 0);
  EXPECT_THROW(state.truncate(1), LatticeError);
}

TEST(DecoderState, TruncatesWithinTheLimits) {
  DecoderState state = recurrent();
  feed(state, 130);
  EXPECT_THROW(state.truncate(127), LatticeError);
  EXPECT_THROW(state.truncate(131), LatticeError);
  EXPECT_THROW(state.truncate(-1), LatticeError);
  EXPECT_EQ(state.num_tokens(), 130);
  state.truncate(129);
  EXPECT_EQ(state.delta(0).num_pending(), 1);
  EXPECT_EQ(state.delta(2).num_pending(), 1);
  feed(state, 60);
  EXPECT_EQ(state.num_tokens(), 189);
  state.truncate(130);
  EXPECT_EQ(state.delta(0).num_pending(), 2);
}

// The matrix is that of the border, whose tokens are no longer pending: it cannot go back further.
TEST(DecoderState, AtTheBorderItRemembersThatItCameFromBehindIt) {
  for (const std::int64_t border : {64, 128}) {
    DecoderState state = recurrent();
    feed(state, border + 5);
    state.truncate(border);
    EXPECT_EQ(state.rewind_limit(), border);
    EXPECT_EQ(state.delta(0).num_pending(), 0);
    state.truncate(border);
    EXPECT_EQ(state.delta(0).num_pending(), 0);
    EXPECT_THROW(state.truncate(border - 1), LatticeError);
    EXPECT_EQ(state.copy()->rewind_limit(), border);
    feed(state, 64);
    EXPECT_EQ(state.rewind_limit(), border);
    EXPECT_EQ(state.delta(0).num_pending(), 64);
    state.truncate(border + 3);
    EXPECT_EQ(state.delta(2).num_pending(), 3);
  }
}

TEST(DecoderState, CopiesAreIndependent) {
  DecoderState state = recurrent();
  feed(state, 100);
  const std::unique_ptr<DecoderState> copy = state.copy();
  EXPECT_EQ(copy->num_tokens(), 100);
  feed(*copy, 30);
  state.truncate(64);
  EXPECT_EQ(copy->num_tokens(), 130);
  EXPECT_EQ(copy->delta(0).num_pending(), 2);
  EXPECT_EQ(state.delta(0).num_pending(), 0);
  EXPECT_EQ(state.num_tokens(), 64);
}

TEST(DecoderState, KnowsItsSize) {
  DecoderState state = recurrent();
  const std::size_t empty = state.num_bytes();
  EXPECT_EQ(empty, 2 * DeltaCache(kDelta).num_bytes());
  feed(state, 1);
  EXPECT_GT(state.num_bytes(), empty);
}

TEST(DecoderState, APassThatIsGivenUpLeavesAStateThatRefusesUse) {
  DecoderState good = recurrent(), other = recurrent();
  feed(good, 10);
  DecoderState* states[] = {&good, &other};
  const std::vector<std::int32_t> ids = {1, 2, 3}, cu_seqlens = {0, 1, 3};
  const TokenBatch batch{
      .input_ids = ids, .token_type_ids = {}, .layout = {cu_seqlens}, .states = states};
  {
    const DecoderPass pass(batch);
    pass.commit();
  }
  EXPECT_TRUE(good.usable() && other.usable());
  EXPECT_EQ(good.num_tokens(), 11);
  EXPECT_EQ(other.num_tokens(), 2);
  try {
    const DecoderPass pass(batch);
    throw std::domain_error("a layer failed");
  } catch (const std::domain_error&) {
  }
  for (DecoderState* state : states) {
    EXPECT_FALSE(state->usable());
    EXPECT_THROW(state->copy(), LatticeError);
    EXPECT_THROW(state->begin_pass(), LatticeError);
    EXPECT_THROW(state->truncate(0), LatticeError);
    EXPECT_THROW(state->truncate(state->num_tokens()), LatticeError);
  }
  EXPECT_THROW(DecoderPass{batch}, LatticeError);
}

}  // namespace
}  // namespace lattice
