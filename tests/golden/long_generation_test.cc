// Prompts of up to 16,384 tokens (tools/golden/generation_long.py): what an error of f32 grows to.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/result.h"
#include "golden/generator_support.h"
#include "golden/golden_json.h"

namespace lattice {
namespace {

constexpr double kTolerance = 1e-4;

struct LongGolden {
  std::string variant;
  std::vector<std::size_t> lengths;
  std::vector<double> logits;
};

LongGolden read_long() {
  const std::filesystem::path dir = golden_dir() / "generation" / "long";
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(dir / "golden.json"));
  const Json& root = document.root();
  // varied_ids() is this recipe.
  EXPECT_EQ(member(root, "recipe").as_string(),
            "ids[i] = (7919 * i * i + 104729 * i + 13) % 1000003 % num_ids");
  EXPECT_EQ(to_size(member(root, "num_ids")), 300u);
  return {.variant = std::string(member(root, "variant").as_string().value()),
          .lengths = to_integers<std::size_t>(member(root, "lengths")),
          .logits = read_doubles(read_tensor(dir / "golden.safetensors", "logits"))};
}

/// In passes of 512, as generation feeds a prompt.
std::vector<float> prefilled_logits(const LanguageModel& model, const Ids& ids) {
  return last_logits(model, ids, std::vector<std::size_t>(ids.size() / 512, 512));
}

TEST(LongGeneration, LogitsAreTransformers) {
  const LongGolden golden = read_long();
  const Model model = load_generation_model(golden.variant, 2);
  const LanguageModel& language_model = model.impl().generator().model();
  ASSERT_EQ(golden.lengths, (std::vector<std::size_t>{1024, 4096, 16384}));
  const std::size_t vocab = golden.logits.size() / golden.lengths.size();
  for (std::size_t i = 0; i < golden.lengths.size(); ++i) {
    const std::size_t length = golden.lengths[i];
    const double difference =
        max_abs_difference(prefilled_logits(language_model, varied_ids(length)),
                           std::span<const double>(golden.logits).subspan(i * vocab, vocab));
    std::printf("%zu tokens: logits within %.2e\n", length, difference);
    RecordProperty("difference_" + std::to_string(length), std::to_string(difference));
    EXPECT_LE(difference, kTolerance) << length;
  }
}

TEST(LongGeneration, PassesAndSingleTokensHaveTheSameBits) {
  const Model model = load_generation_model(read_long().variant);
  const LanguageModel& language_model = model.impl().generator().model();
  const Ids ids = varied_ids(1024);
  const std::vector<float> whole = last_logits(language_model, ids);
  EXPECT_EQ(prefilled_logits(language_model, ids), whole);
  EXPECT_EQ(last_logits(language_model, ids, std::vector<std::size_t>(ids.size(), 1)), whole);
}

}  // namespace
}  // namespace lattice
