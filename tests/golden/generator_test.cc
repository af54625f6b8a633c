// Whole generations: the goldens' tokens, and the same bits whatever the speculation, the threads,
// the company and the cut of the prompt.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/generation/logprobs.h"
#include "golden/generator_support.h"

namespace lattice {
namespace {

// Two tokens closer than this may change places.
constexpr double kGap = 1e-3;

const char* const kVariants[] = {"tied", "untied", "v-heads-4", "qwen3-untied"};

GenerateOptions sampled(std::size_t max_tokens, std::uint64_t seed) {
  GenerateOptions options = endless(max_tokens);
  options.sampling.temperature = 0.7F;
  options.sampling.top_k = 20;
  options.sampling.top_p = 0.95F;
  options.sampling.repetition_penalty = 1.05F;
  options.sampling.seed = seed;
  return options;
}

TEST(Generator, GreedyIdsAreTheGoldens) {
  std::size_t compared = 0;
  for (const GenerationVariant& variant : generation_variants()) {
    if (variant.name == "rope-absent") continue;  // is refused
    const GenerationGolden golden = load_generation_golden(variant);
    const Model model = load_generation_model(variant.name);
    for (const GenerationCase& c : golden.cases) {
      const auto close = std::ranges::find_if(c.gaps, [](double gap) { return gap < kGap; });
      const auto certain = static_cast<std::size_t>(close - c.gaps.begin());
      if (certain == 0) continue;
      const Generation got = model.generate_ids(c.ids, endless(certain));
      EXPECT_EQ(got.ids, Ids(c.greedy.begin(), c.greedy.begin() + (close - c.gaps.begin())))
          << variant.name << ", behind " << c.ids.size();
      EXPECT_EQ(got.finish_reason, FinishReason::kLength);
      EXPECT_EQ(got.text, model.tokenizer().decode(got.ids, /*skip_special_tokens=*/true));
      compared += certain;
    }
  }
  EXPECT_GT(compared, 1000u);
}

constexpr Speculation kNgram = Speculation::kNgram;

Ids repeated(std::size_t count) {
  Ids ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::int32_t>(10 + i % 7);
  return ids;
}

// The lengths put the end of the prompt, and with it drafts, at every side of a chunk's border.
TEST(Generator, SpeculationChangesNothingGreedy) {
  for (const char* variant : kVariants) {
    const Model model = load_generation_model(variant);
    std::size_t drafted = 0, accepted = 0;
    for (const std::size_t length :
         {1u, 30u, 60u, 61u, 62u, 63u, 64u, 65u, 66u, 127u, 128u, 129u}) {
      const GenerateTimings timings =
          expect_speculation_changes_nothing(model, repeated(length), endless(90), kNgram);
      drafted += timings.drafted_tokens;
      accepted += timings.accepted_tokens;
    }
    EXPECT_GT(accepted, 0u) << variant;
    EXPECT_GT(drafted, accepted) << variant << ": no draft had to be taken back";
  }
}

TEST(Generator, SpeculationChangesNothingSampled) {
  for (const char* variant : {"tied", "qwen3-untied"}) {
    const Model model = load_generation_model(variant);
    std::size_t drafted = 0, accepted = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      GenerateOptions options = sampled(100, seed);
      options.sampling.temperature = 0.2F;
      options.max_drafts = 1 + seed * 12;
      const GenerateTimings timings =
          expect_speculation_changes_nothing(model, repeated(50 + seed), options, kNgram);
      drafted += timings.drafted_tokens;
      accepted += timings.accepted_tokens;
    }
    EXPECT_GT(accepted, 0u) << variant;
    EXPECT_GT(drafted, accepted) << variant;
  }
}

TEST(Generator, SpeculationWithoutAProposal) {
  const Model model = load_generation_model("untied");
  const Ids prompt = varied_ids(3);
  const auto drafted = [&](const Ids& ids, const GenerateOptions& options) {
    return expect_speculation_changes_nothing(model, ids, options, kNgram).drafted_tokens;
  };
  EXPECT_EQ(drafted(prompt, endless(4)), 0u);
  GenerateOptions no_drafts = endless(40);
  no_drafts.max_drafts = 0;
  EXPECT_EQ(drafted(repeated(40), no_drafts), 0u);
}

// Ends in the middle of accepted drafts: by length, by a token, by a text.
TEST(Generator, SpeculationStopsWhereItMust) {
  const Model model = load_generation_model("tied");
  const Ids prompt = repeated(40);
  const Generation whole = model.generate_ids(prompt, endless(60));
  for (std::size_t length = 1; length <= 60; ++length) {
    expect_speculation_changes_nothing(model, prompt, endless(length), kNgram);
  }
  for (const std::int32_t id : whole.ids) {
    GenerateOptions options = endless(60);
    options.stop_token_ids->push_back(id);
    expect_speculation_changes_nothing(model, prompt, options, kNgram);
  }
  GenerateOptions options = endless(60);
  options.stop =
      std::vector<std::string>{model.tokenizer().decode(Ids(whole.ids.end() - 3, whole.ids.end()))};
  expect_speculation_changes_nothing(model, prompt, options, kNgram);
}

TEST(Generator, ThreadsChangeNothing) {
  for (const char* variant : {"tied", "real-heads", "qwen3-untied"}) {
    const Ids prompt = varied_ids(150);
    const GenerateOptions options = sampled(30, 5);
    const Generation one = load_generation_model(variant, 1).generate_ids(prompt, options);
    for (const std::size_t threads : {2u, 3u}) {
      expect_same(load_generation_model(variant, threads).generate_ids(prompt, options), one,
                  std::to_string(threads) + " threads");
    }
  }
}

TEST(Generator, SeedsMakeTheText) {
  const Model model = load_generation_model("tied");
  const Ids prompt = varied_ids(20);
  const Generation first = model.generate_ids(prompt, sampled(40, 1));
  expect_same(model.generate_ids(prompt, sampled(40, 1)), first, "the same seed");
  EXPECT_NE(model.generate_ids(prompt, sampled(40, 2)).ids, first.ids);
}

TEST(Generator, AloneAndInABatchOfMixedLengths) {
  std::vector<std::string> prompts;
  for (const std::size_t words : {1u, 300u, 2u, 17u, 63u, 500u, 5u, 130u}) {
    std::string prompt;
    for (std::size_t i = 0; i < words; ++i) {
      prompt += i % 3 == 0 ? "late " : "it is " + std::to_string(i);
    }
    prompts.push_back(prompt);
  }
  for (const char* variant : {"tied", "qwen3-untied"}) {
    const Model model = load_generation_model(variant);
    for (GenerateOptions options : {endless(40), sampled(40, 3)}) {
      options.speculation = Speculation::kNgram;
      const std::vector<Generation> together = model.generate_batch(prompts, options);
      ASSERT_EQ(together.size(), prompts.size());
      for (std::size_t i = 0; i < prompts.size(); ++i) {
        expect_same(together[i], model.generate(prompts[i], options),
                    "prompt " + std::to_string(i));
      }
    }
  }
}

Generation run_in_passes(const Model& model, const Ids& prompt, const GenerateOptions& options,
                         std::size_t pass_tokens) {
  const Generator& generator = model.impl().generator();
  SequenceState state(generator.model().make_state());
  GenerationSequence sequence(generator.model(), state, generator.request(prompt, options, {}));
  std::vector<float> logits;
  while (!sequence.finished()) {
    const LanguageModel::Input input = sequence.next_input(pass_tokens);
    generator.model().forward({&input, 1}, logits);
    sequence.take(logits);
  }
  return sequence.finish();
}

TEST(Generator, TheCutOfThePromptChangesNothing) {
  for (const char* variant : {"tied", "qwen3-untied"}) {
    const Model model = load_generation_model(variant);
    for (const std::size_t length : {1u, 64u, 65u, 150u, 600u}) {
      const Ids prompt = varied_ids(length);
      const Generation expected = model.generate_ids(prompt, sampled(20, 9));
      for (const std::size_t pass : {1u, 7u, 63u, 64u, 65u, 200u}) {
        if (length == 600 && pass == 1) continue;  // long, and shows nothing that 150 does not
        expect_same(run_in_passes(model, prompt, sampled(20, 9), pass), expected,
                    std::to_string(length) + " in passes of " + std::to_string(pass));
      }
    }
  }
}

TEST(Generator, LogprobsAreOfTheModelsOwnLogits) {
  const Model model = load_generation_model("untied");
  const LanguageModel& language_model = model.impl().generator().model();
  Ids ids = varied_ids(30);
  GenerateOptions options = sampled(12, 4);
  options.logprobs = 5;
  const Generation got = model.generate_ids(ids, options);
  ASSERT_EQ(got.logprobs.size(), got.ids.size());
  for (std::size_t i = 0; i < got.ids.size(); ++i) {
    const TokenLogprobs expected =
        compute_logprobs(last_logits(language_model, ids), got.ids[i], 5);
    EXPECT_EQ(got.logprobs[i].chosen, expected.chosen);
    EXPECT_EQ(got.logprobs[i].top, expected.top);
    EXPECT_EQ(got.logprobs[i].top.size(), 5u);
    ids.push_back(got.ids[i]);
  }
  options.logprobs.reset();
  EXPECT_TRUE(model.generate_ids(varied_ids(30), options).logprobs.empty());
  options.logprobs = 0;
  const Generation chosen_only = model.generate_ids(varied_ids(30), options);
  ASSERT_EQ(chosen_only.logprobs.size(), chosen_only.ids.size());
  EXPECT_TRUE(chosen_only.logprobs[0].top.empty());
  EXPECT_EQ(chosen_only.ids, got.ids);
  options.logprobs = 100000;  // more than there are
  EXPECT_EQ(model.generate_ids(varied_ids(30), options).logprobs[0].top.size(), 305u);
}

TEST(Generator, Timings) {
  const Model model = load_generation_model("tied");
  const Generation got = model.generate_ids(varied_ids(70), endless(5));
  EXPECT_EQ(got.timings.prompt_tokens, 70u);
  EXPECT_EQ(got.timings.cached_tokens, 0u);
  EXPECT_EQ(got.timings.output_tokens, 5u);
  EXPECT_GT(got.timings.prompt_ms, 0);
  EXPECT_GT(got.timings.output_ms, 0);
  EXPECT_EQ(got.prompt_ids, varied_ids(70));
}

}  // namespace
}  // namespace lattice
