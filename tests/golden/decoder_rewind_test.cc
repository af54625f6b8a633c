// Going back and going on: a state that was rewound, copied or left behind by a failed pass, on
// real forward passes.
#include <gtest/gtest.h>

#include <algorithm>

#include "golden/generator_support.h"

namespace lattice {
namespace {

/// The logits behind `ids`, fed to a state; empty ids: nothing.
std::vector<float> feed(const LanguageModel& model, DecoderState& state, const Ids& ids) {
  std::vector<float> logits;
  const LanguageModel::Input input{ids, &state, 1};
  model.forward({&input, 1}, logits);
  return logits;
}

Ids head(const Ids& ids, std::int64_t count) { return {ids.begin(), ids.begin() + count}; }

Ids joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class DecoderRewind : public testing::TestWithParam<const char*> {
 protected:
  /// `state` has seen `seen`, and must go on like a new one that has.
  void expect_goes_on(DecoderState& state, const Ids& seen) {
    ASSERT_EQ(state.num_tokens(), static_cast<std::int64_t>(seen.size()));
    const Ids more = varied_ids(5, 3);
    EXPECT_EQ(feed(language_model(), state, more),
              last_logits(language_model(), joined(seen, more)))
        << seen.size() << " tokens";
  }
  const LanguageModel& language_model() const { return model_.impl().generator().model(); }

  Model model_ = load_generation_model(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Families, DecoderRewind, testing::Values("tied", "conv-2", "qwen3-untied"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(DecoderRewind, ToAnyTokenWithinTheLimit) {
  const Ids ids = varied_ids(200);
  for (const std::int64_t tokens : {1, 63, 64, 65, 100, 128, 129, 200}) {
    const std::unique_ptr<DecoderState> whole = language_model().make_state();
    feed(language_model(), *whole, head(ids, tokens));
    for (std::int64_t back = whole->rewind_limit(); back <= tokens; back += 1 + back % 7) {
      const std::unique_ptr<DecoderState> state = whole->copy();
      state->truncate(back);
      expect_goes_on(*state, head(ids, back));
    }
    expect_goes_on(*whole, head(ids, tokens));  // the copies did not touch it
  }
}

TEST_P(DecoderRewind, ToABorderTwice) {
  const Ids ids = varied_ids(80);
  const std::unique_ptr<DecoderState> state = language_model().make_state();
  feed(language_model(), *state, ids);
  state->truncate(64);
  state->truncate(64);
  const std::unique_ptr<DecoderState> copy = state->copy();
  copy->truncate(64);
  expect_goes_on(*copy, head(ids, 64));
  expect_goes_on(*state, head(ids, 64));
}

TEST_P(DecoderRewind, AgainAndAgain) {
  Ids seen = varied_ids(60);
  const std::unique_ptr<DecoderState> state = language_model().make_state();
  feed(language_model(), *state, seen);
  for (std::size_t step = 0; step < 40; ++step) {
    const Ids more = varied_ids(1 + step % 9, step);
    feed(language_model(), *state, more);
    seen = joined(seen, more);
    const std::int64_t back =
        std::max(state->rewind_limit(), state->num_tokens() - static_cast<std::int64_t>(step % 7));
    state->truncate(back);
    seen = head(seen, back);
  }
  expect_goes_on(*state, seen);
}

TEST_P(DecoderRewind, APassThatThrowsLeavesAStateThatIsNotUsed) {
  const TextModel& body = *model_.impl().model().body;
  const Ids ids = varied_ids(70);
  SequenceState sequence(language_model().make_state());
  feed(language_model(), sequence.state(), ids);
  sequence.append(ids);
  if (!sequence.state().rewindable()) sequence.take_snapshot();
  const Ids more = varied_ids(3, 1);
  const Ids cu_seqlens = {0, 3};
  DecoderState* const state = &sequence.state();
  std::vector<float> hidden(3 * static_cast<std::size_t>(body.traits().hidden_size));
  ContextPool::Lease lease(*model_.impl().model().contexts, 1);
  EXPECT_THROW(
      body.forward(
          *lease,
          {.input_ids = more, .token_type_ids = {}, .layout = {cu_seqlens}, .states = {&state, 1}},
          MutMatrix(hidden.data(), 3, body.traits().hidden_size),
          [](std::string_view name, ConstMatrix) {
            if (name == "layer.1") throw std::domain_error("out of memory, say");
          }),
      std::domain_error);
  EXPECT_FALSE(state->usable());
  EXPECT_THROW(feed(language_model(), *state, more), LatticeError);
  // A sequence goes back to a snapshot, or begins anew.
  const Ids next = joined(ids, more);
  const std::size_t kept = sequence.rewind_to(next, language_model().make_state());
  EXPECT_EQ(kept, std::string(GetParam()) == "qwen3-untied" ? 0u : 70u);
  expect_goes_on(sequence.state(), head(next, static_cast<std::int64_t>(kept)));
}

}  // namespace
}  // namespace lattice
