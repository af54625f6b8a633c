// The multi-token prediction head: its logits are transformers', its guesses change no text.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/generation/mtp_drafter.h"
#include "golden/generator_support.h"
#include "support/model_copy.h"
#include "support/weight_edit.h"

namespace lattice {
namespace {

constexpr const char* kVariant = "mtp";

/// The last hidden states of `ids`.
std::vector<float> hidden_states(const LanguageModel& model, std::span<const std::int32_t> ids) {
  const std::unique_ptr<DecoderState> state = model.make_state();
  std::vector<float> logits, hidden;
  const LanguageModel::Input input{
      .ids = ids, .state = state.get(), .num_logits = 0, .hidden = &hidden};
  model.forward({&input, 1}, logits);
  return hidden;
}

/// The tokens behind those of a case, without its first.
Ids followers(const GenerationCase& c) {
  Ids ids(c.ids.begin() + 1, c.ids.end());
  ids.push_back(c.next.value());
  return ids;
}

class Mtp : public testing::TestWithParam<const char*> {
 protected:
  std::span<const double> expected(std::size_t i) const {
    const auto vocab = static_cast<std::size_t>(language_model().vocab_size());
    return std::span(mtp_logits_).subspan(i * vocab, vocab);
  }
  const LanguageModel& language_model() const { return model_.impl().generator().model(); }

  Model model_ = Model::from_directory(generation_variant(kVariant).directory,
                                       {.device = GetParam(), .num_threads = 1});
  GenerationGolden golden_ = load_generation_golden(generation_variant(kVariant));
  std::vector<double> mtp_logits_ = golden_.tensor("mtp.logits");
};

TEST_P(Mtp, LogitsAreTransformers) {
  const LanguageModel& model = language_model();
  ASSERT_TRUE(model.has_draft_head());
  ASSERT_GE(golden_.cases.size(), 5u);
  for (std::size_t i = 0; i < golden_.cases.size(); ++i) {
    const GenerationCase& c = golden_.cases[i];
    std::vector<float> hidden = hidden_states(model, c.ids);
    const std::unique_ptr<DraftState> state = model.make_draft_state();
    model.forward_draft_head(followers(c), state->state(), hidden);
    const std::vector<float> logits = model.logits_of(std::span(hidden).last(model.hidden_size()));
    EXPECT_LE(max_abs_difference(logits, expected(i)), 1e-4) << c.ids.size() << " tokens";
  }
}

// Whatever the parts that the hidden states come in, and with drafts beyond the first.
TEST_P(Mtp, DrafterProposesWhatTheHeadExpects) {
  const LanguageModel& model = language_model();
  for (std::size_t i = 0; i < golden_.cases.size(); ++i) {
    const GenerationCase& c = golden_.cases[i];
    const auto likeliest = std::ranges::max_element(expected(i)) - expected(i).begin();
    const std::vector<float> hidden = hidden_states(model, c.ids);
    for (const std::size_t part : {1u, 3u, 70u}) {
      const std::unique_ptr<DraftState> state = model.make_draft_state();
      MtpDrafter drafter(model, *state, 0);
      drafter.accept(c.ids);
      for (std::size_t begin = 0; begin < c.ids.size(); begin += part) {
        const std::size_t count = std::min(part, c.ids.size() - begin);
        drafter.accept_hidden(
            std::span(hidden).subspan(begin * model.hidden_size(), count * model.hidden_size()));
      }
      drafter.accept(std::span(&*c.next, 1));
      EXPECT_TRUE(drafter.propose(0).empty());
      const std::vector<std::int32_t> three = drafter.propose(3);
      ASSERT_EQ(three.size(), 3u);
      EXPECT_EQ(three[0], likeliest) << c.ids.size() << " tokens in parts of " << part;
      EXPECT_EQ(state->num_tokens(), c.ids.size()) << "drafts were kept";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Mtp, testing::Values("cpu", "reference"),
                         [](const auto& test) { return std::string(test.param); });

// Without the states of the first tokens the guesses may be worse; they are made all the same.
TEST(MtpDrafter, StartsAnewBehindTokensWithoutStates) {
  const Model whole = load_generation_model(kVariant);
  const LanguageModel& model = whole.impl().generator().model();
  const Ids ids = varied_ids(20);
  const std::vector<float> hidden = hidden_states(model, ids);
  const std::unique_ptr<DraftState> state = model.make_draft_state();
  MtpDrafter drafter(model, *state, 12);
  drafter.accept(ids);
  EXPECT_TRUE(drafter.propose(2).empty());
  drafter.accept_hidden(std::span(hidden).subspan(12 * model.hidden_size()));
  EXPECT_TRUE(drafter.propose(0).empty());
  EXPECT_EQ(state->num_tokens(), 20u);
  const std::int32_t next = 7;
  drafter.accept(std::span(&next, 1));
  EXPECT_EQ(drafter.propose(2).size(), 2u);
  EXPECT_EQ(state->state().num_tokens(), 8);
}

TEST(MtpSpeculation, ChangesNothing) {
  const Model model = load_generation_model(kVariant);
  std::size_t drafted = 0, accepted = 0;
  for (const std::size_t length : {1u, 2u, 60u, 62u, 63u, 64u, 65u, 127u, 128u, 700u}) {
    for (const std::size_t drafts : {1u, 2u, 5u}) {
      GenerateOptions options = endless(120);
      options.max_drafts = drafts;
      options.sampling.temperature = drafts == 2 ? 0.3F : 0.0F;
      options.sampling.seed = length;
      const GenerateTimings timings =
          expect_speculation_changes_nothing(model, varied_ids(length), options, Speculation::kMtp);
      drafted += timings.drafted_tokens;
      accepted += timings.accepted_tokens;
    }
  }
  EXPECT_GT(drafted, 2000u);
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(drafted, accepted) << "no draft had to be taken back";
}

// A head of zeros guesses token 0, and the model is made to say it: every draft comes true.
TEST(MtpSpeculation, ChangesNothingWhenAllDraftsComeTrue) {
  const ModelCopy copy = ModelCopy::of(generation_variant(kVariant).directory);
  edit_weight(copy.path() / "model.safetensors", "mtp.norm.weight",
              [](std::span<float> values) { std::ranges::fill(values, -1.0F); });
  const Model model = load_copy(copy);
  for (const std::size_t length : {1u, 61u, 62u, 63u, 64u, 100u}) {
    for (const std::size_t drafts : {1u, 3u}) {
      GenerateOptions options = endless(100);
      options.max_drafts = drafts;
      options.sampling.logit_bias = {{0, 1000.0F}};
      const GenerateTimings timings =
          expect_speculation_changes_nothing(model, varied_ids(length), options, Speculation::kMtp);
      EXPECT_EQ(timings.accepted_tokens, timings.drafted_tokens);
      EXPECT_GT(timings.accepted_tokens, drafts == 1 ? 45u : 65u);
    }
  }
}

// The head's state follows the conversation's: turns that continue, an edit, snapshots.
TEST(MtpSpeculation, ChangesNothingInAConversation) {
  const Model model = load_generation_model(kVariant);
  ChatSession plain = model.chat();
  ChatSession drafted = model.chat();
  ChatOptions options;
  options.generate = endless(40);
  ChatOptions with_drafts = options;
  with_drafts.generate.speculation = Speculation::kMtp;
  with_drafts.generate.max_drafts = 2;
  std::size_t num_drafts = 0, num_cached = 0;
  std::vector<ChatMessage> messages;
  for (const char* question : {"one", "and two more words", "three", "four and a longer one"}) {
    messages.push_back({"user", question});
    const ChatAnswer expected = plain.answer(messages, options);
    const ChatAnswer got = drafted.answer(messages, with_drafts);
    expect_same(got.generation, expected.generation, question);
    num_drafts += got.generation.timings.drafted_tokens;
    num_cached += got.generation.timings.cached_tokens;
    messages.push_back({"assistant", got.content});
    if (messages.size() == 4) messages[2].content = "edited";
  }
  EXPECT_GT(num_drafts, 40u);
  EXPECT_GT(num_cached, 0u);
}

TEST(MtpSpeculation, IsRefusedWithoutAHead) {
  const Model model = load_generation_model("tied");
  GenerateOptions options = endless(4);
  options.speculation = Speculation::kMtp;
  expect_refused([&] { model.generate_ids(varied_ids(3), options); }, ErrorCode::kUnsupported,
                 "multi-token prediction");
}

}  // namespace
}  // namespace lattice
