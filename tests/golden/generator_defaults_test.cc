// What a model's own generation_config.json decides where the caller does not, and what ends a
// generation from outside.
#include <gtest/gtest.h>

#include "golden/generator_support.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

/// A model whose generation_config.json has this member too.
Model with_member(const ModelCopy& copy, const std::string& member) {
  copy.replace("generation_config.json", "{", "{" + member + ",");
  return load_copy(copy);
}

class GeneratorDefaults : public testing::Test {
 protected:
  ModelCopy copy_ = ModelCopy::of(generation_variant("tied").directory);
  Ids prompt_ = {270, 271, 272};
};

TEST_F(GeneratorDefaults, MaxNewTokens) {
  const Model model = with_member(copy_, "\"max_new_tokens\": 7");
  GenerateOptions options;
  options.stop_token_ids.emplace();
  const Generation got = model.generate_ids(prompt_, options);
  EXPECT_EQ(got.ids.size(), 7u);
  EXPECT_EQ(got.finish_reason, FinishReason::kLength);
  options.max_tokens = 9;
  EXPECT_EQ(model.generate_ids(prompt_, options).ids.size(), 9u);
}

TEST_F(GeneratorDefaults, StopStrings) {
  const Model model = with_member(copy_, "\"stop_strings\": [\"cd\", \"zz\"]");
  const GenerateOptions options = saying(byte_ids("abcdef"));
  const Generation got = model.generate_ids(prompt_, options);
  EXPECT_EQ(got.text, "ab");
  EXPECT_EQ(got.finish_reason, FinishReason::kStop);
  GenerateOptions none = options;
  none.stop.emplace();
  EXPECT_EQ(model.generate_ids(prompt_, none).text, "abcdef");
  none.stop->emplace_back("ef");
  EXPECT_EQ(model.generate_ids(prompt_, none).text, "abcd");
}

// What lattice cannot honour is refused where it matters, and nowhere else.
TEST_F(GeneratorDefaults, UnusableSettingsRefuseTextAndNotVectors) {
  const Model plain = load_generation_model("tied");
  const std::vector<Ids> texts{varied_ids(9)};
  const Embeddings expected = plain.embed_ids(texts);
  for (const auto& [member, code] :
       {std::pair{"\"num_beams\": 4", ErrorCode::kUnsupported},
        std::pair{"\"temperature\": \"warm\"", ErrorCode::kMalformed}}) {
    const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
    const Model model = with_member(copy, member);
    expect_refused([&] { model.generate_ids(prompt_); }, code, "generation_config.json");
    expect_refused([&] { model.chat(); }, code, "generation_config.json");
    const Embeddings got = model.embed_ids(texts);
    EXPECT_TRUE(std::ranges::equal(got[0], expected[0]));
  }
}

// The question is asked before every pass, those of a long prompt included.
TEST(GeneratorCancelled, WithinAPromptAndWithinAText) {
  const Model model = load_generation_model("tied");
  GenerateOptions options = endless(20);
  int asked = 0;
  options.cancelled = [&] { return ++asked < 0; };
  const Generation whole = model.generate_ids(varied_ids(1200), options);
  ASSERT_EQ(whole.ids.size(), 20u);
  const int prompt_passes = asked - 19;  // the last of them gives the first token
  ASSERT_GE(prompt_passes, 3);
  for (const int allowed : {0, 1, 2, prompt_passes, prompt_passes + 5}) {
    asked = 0;
    options.cancelled = [&] { return ++asked > allowed; };
    Pieces pieces;
    const Generation got = model.generate_ids(varied_ids(1200), options, pieces.callback());
    EXPECT_EQ(got.finish_reason, FinishReason::kCancelled);
    EXPECT_EQ(asked, allowed + 1);
    const int tokens = std::max(0, allowed - prompt_passes + 1);
    EXPECT_EQ(got.ids, Ids(whole.ids.begin(), whole.ids.begin() + tokens));
    EXPECT_EQ(got.text, pieces.joined());
    EXPECT_GE(got.timings.prompt_ms, 0.0);
    EXPECT_GE(got.timings.output_ms, 0.0);
  }
}

TEST(GeneratorCancelled, LeavesAConversationUsable) {
  const Model model = load_generation_model("tied");
  ChatSession fresh = model.chat();
  ChatSession session = model.chat();
  ChatOptions options;
  options.generate = endless(12);
  ChatOptions cancelled = options;
  int asked = 0;
  cancelled.generate.cancelled = [&] { return ++asked > 4; };
  const std::vector<ChatMessage> first{{"user", "one"}};
  EXPECT_EQ(session.answer(first, cancelled).generation.finish_reason, FinishReason::kCancelled);
  const std::vector<ChatMessage> second{{"user", "one, two"}};
  expect_same(session.answer(second, options).generation, fresh.answer(second, options).generation,
              "after a cancelled answer");
}

}  // namespace
}  // namespace lattice
