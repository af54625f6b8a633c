// Faults that users met elsewhere when they generated text; each must not occur here. Those that
// another test holds:
//
//   norms of Qwen3.5 without 1 + w: endless spaces    GenerationFault.NormsWithoutOnePlusAreNoticed
//   q_proj split flat instead of per head             GenerationFault.FlatQueriesAndGatesAreNoticed
//   speculation changes the text, or inflates what    Generator.Speculation*
//     was accepted; a step that proposes nothing
//   an emoji over several tokens: U+FFFD, or a stall  GeneratorText.ACharacterOverSeveralTokens...,
//                                                     StreamDecoder.InvalidBytesDoNotStall
//   a second or late system message                   ChatRefusals.WhatTheTemplateRefuses...
//   a cut-off thought returned as content             ChatAnswers.ACutOffThoughtIsReasoning
//   thinking off: the answer put into the thought     ChatAnswers.ThinkingOffIsContent
//   tied heads ignored or inverted, flag at the root  GenerationGoldenTest.LastLogits (nested-*)
//     or in text_config
//   rope_theta at either place, or at none            the same (rope-top-level),
//                                                     AConfigWithoutRopeThetaIsRefused
//   RoPE paired (2i, 2i + 1)                          GenerationFault.RopeOfNeighboursIsNoticed
//   decay per key head: long answers collapse         GenerationFault.DecayPerKeyHeadIsNoticed
//   a random number of 1.0 draws the worst token      Sampler.NumbersCloseToOneDrawATokenOf...
//   <think> dropped from decoded text                 GeneratorText.SpecialTokensInTheText
//   a text that ends inside a character loses it      GeneratorText.AnEndInTheMiddleOfACharacter...
//   one NaN becomes plausible text                    GeneratorNan.*
//   a token id beyond the vocabulary crashes          GeneratorErrors.Prompts
//   a conversation edited midway, a refused request   ChatSession.AnyEditAnywhere,
//     that leaves half a state                        ChatSessionRefusals.LeaveWhatIsKnown
//   finish_reason always "stop"                       GeneratorText.MaxTokensAndMaxContext
//   generation goes on when the client has left       GeneratorText.ACallbackCanEndIt
#include <gtest/gtest.h>

#include <cmath>

#include "golden/generator_support.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

// Recurrent state or the convolution's window leaked from one packed sequence into the next.
TEST(GenerationFieldBugs, AShortPromptBesideALongOneIsItself) {
  const Model model = load_generation_model("tied");
  const LanguageModel& language_model = model.impl().generator().model();
  const Ids long_ids = varied_ids(200), short_ids = varied_ids(3, 1);
  for (const bool short_first : {false, true}) {
    const std::unique_ptr<DecoderState> a = language_model.make_state();
    const std::unique_ptr<DecoderState> b = language_model.make_state();
    const LanguageModel::Input inputs[] = {{short_first ? short_ids : long_ids, a.get(), 1},
                                           {short_first ? long_ids : short_ids, b.get(), 1}};
    std::vector<float> logits;
    language_model.forward(inputs, logits);
    const std::span<const float> all(logits);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<float> alone = last_logits(language_model, inputs[i].ids);
      EXPECT_TRUE(std::ranges::equal(all.subspan(i * alone.size(), alone.size()), alone));
    }
  }
}

// Stops "\n" and a name that the output begins with: bytes came twice.
TEST(GenerationFieldBugs, TextIsNotRepeatedWhenAStopTextPartlyMatches) {
  const Model model = load_generation_model("tied");
  GenerateOptions options = saying(byte_ids("Bob: hi\nX"));
  options.stop = std::vector<std::string>{"Bobby:", "\n", "hiy"};
  Pieces pieces;
  const Generation got = model.generate_ids(Ids{270}, options, pieces.callback());
  EXPECT_EQ(got.text, "Bob: hi");
  EXPECT_EQ(got.finish_reason, FinishReason::kStop);
  expect_pieces_of(pieces, got.text);
}

TEST(GenerationFieldBugs, NoThinkInAQuestionIsJustText) {
  const Model model = load_generation_model("tied");
  const ChatSession session = model.chat();
  const std::string plain = session.render({{"user", "2+2"}});
  EXPECT_EQ(
      session.render({{"user", "2+2 /no_think"}}),
      plain.substr(0, plain.find("2+2") + 3) + " /no_think" + plain.substr(plain.find("2+2") + 3));
}

// Penalties of generation_config.json crept into temperature 0, or were lost where they belong.
TEST(GenerationFieldBugs, GreedyTextIsThatOfTheReferenceWhateverTheFilesPenalise) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  copy.replace("generation_config.json", "{", "{\"repetition_penalty\": 1.8,");
  const Model model = load_copy(copy);
  const GenerationGolden golden = load_generation_golden(generation_variant("tied"));
  const GenerationCase& c = golden.cases[4];
  EXPECT_EQ(model.generate_ids(c.ids, endless(c.greedy.size())).ids, c.greedy);
  GenerateOptions penalised = endless(c.greedy.size());
  penalised.sampling.repetition_penalty = model.default_sampling().repetition_penalty;
  EXPECT_NE(model.generate_ids(c.ids, penalised).ids, c.greedy);
}

// Chunks and single steps of the delta rule drifted apart, more with every token.
TEST(GenerationFieldBugs, APromptOf1009TokensInStepsIsThatInOnePass) {
  for (const char* variant : {"tied", "v-heads-4"}) {
    const Model model = load_generation_model(variant);
    const LanguageModel& language_model = model.impl().generator().model();
    const Ids ids = varied_ids(1009);
    const std::vector<float> whole = last_logits(language_model, ids);
    EXPECT_EQ(last_logits(language_model, ids, std::vector<std::size_t>(ids.size(), 1)), whole);
    EXPECT_EQ(last_logits(language_model, ids, std::vector<std::size_t>(20, 63)), whole);
  }
}

// The end tokens of generation_config.json's list: only the first one ended a text.
TEST(GenerationFieldBugs, EveryEndTokenOfTheListEndsAText) {
  const Model model = load_generation_model("tied");
  for (const std::int32_t end : {300, 302}) {
    GenerateOptions options = saying({64, end, 65});
    options.stop_token_ids.reset();
    EXPECT_EQ(model.generate_ids(Ids{270}, options).ids, (Ids{64, end}));
  }
}

TEST(GenerationFieldBugs, TextsOfAHybridModelBeyond512TokensHaveVectors) {
  const Model model = load_generation_model("tied");
  const std::vector<Ids> texts{varied_ids(1100), varied_ids(5)};
  const Embeddings both = model.embed_ids(texts);
  for (const float value : both.values()) EXPECT_TRUE(std::isfinite(value));
  const Embeddings alone = model.embed_ids(std::span(texts).first(1));
  EXPECT_TRUE(std::ranges::equal(alone[0], both[0]));
}

// An empty head gave a perplexity of the vocabulary's size.
TEST(GenerationFieldBugs, AnUntiedModelWithoutItsHeadEmbedsButDoesNotGenerate) {
  const ModelCopy copy = ModelCopy::of(generation_variant("untied").directory);
  copy.replace("model.safetensors", "\"lm_head.weight\"", "\"mtp.xx_.weight\"");
  const Model model = load_copy(copy);
  expect_refused([&] { model.generate("a"); }, ErrorCode::kUnsupported, "lm_head");
  expect_refused([&] { model.perplexity("a b"); }, ErrorCode::kUnsupported, "lm_head");
  EXPECT_EQ(model.embed_ids(std::vector<Ids>{varied_ids(3)}).size(), 1u);
}

// A text of one character, of spaces, of nothing but special tokens: none hangs or crashes.
TEST(GenerationFieldBugs, PromptsOfAlmostNothing) {
  const Model model = load_generation_model("tied");
  for (const char* prompt : {" ", "\n", "a", "<|im_end|>", "<|endoftext|><|endoftext|>"}) {
    EXPECT_FALSE(model.generate(prompt, endless(2)).ids.empty()) << prompt;
  }
}

}  // namespace
}  // namespace lattice
