// Tiny random models of every variant against float64 goldens, on every backend: the whole pipeline
// from text, the same from golden ids, and taps inside the forward pass.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include "engine/model_impl.h"
#include "golden/golden_file.h"
#include "support/usable_backends.h"

namespace lattice {
namespace {

class TinyModel : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  const TinyVariant& variant() const { return tiny_variants()[std::get<1>(GetParam())]; }
  Model load() const {
    return Model::from_directory(variant().directory,
                                 {.device = std::get<0>(GetParam()), .num_threads = 2});
  }
};

TEST_P(TinyModel, EmbedsTextsLikeTheReference) {
  const GoldenFile golden = load_golden(variant().golden);
  const Model model = load();
  EXPECT_EQ(model.info().max_length.value, golden.max_seq_length);
  EmbedOptions options = variant().options;
  options.truncate = Truncate::kEnd;
  const Embeddings all = model.embed(golden.texts(), options);
  ASSERT_EQ(all.dimensions(), golden.dimensions);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < golden.cases.size(); ++i) {
    if (golden.cases[i].pair) continue;  // embed() takes single texts
    ++compared;
    EXPECT_EQ(all.report(i).num_tokens, golden.cases[i].ids.size()) << golden.cases[i].text;
    EXPECT_EQ(all.report(i).truncated, golden.cases[i].truncated) << golden.cases[i].text;
    for (std::size_t d = 0; d < golden.dimensions; ++d) {
      ASSERT_NEAR(all[i][d], golden.embedding(i)[d], variant().tolerance)
          << "case " << i << " \"" << golden.cases[i].text << "\" value " << d;
    }
  }
  EXPECT_GE(compared, 10u);
}

TEST_P(TinyModel, EmbedsGoldenIdsLikeTheReference) {
  // A prompt is in the golden ids already, and leaving it out of the pool needs its length.
  if (!variant().options.prompt && !variant().options.prompt_name &&
      load().info().default_prompt_name == std::nullopt) {
    const GoldenFile golden = load_golden(variant().golden);
    const Model model = load();
    std::vector<TokenizedText> texts;
    for (const GoldenCase& c : golden.cases) texts.push_back(tokenized(c));
    const Embeddings all = model.impl().embedder().embed_tokenized(texts, variant().options);
    EXPECT_LE(max_abs_difference(all, golden), variant().tolerance);
  }
}

TEST_P(TinyModel, ComputesTheTapsOfTheReference) {
  const GoldenFile golden = load_golden(variant().golden);
  const Model model = load();
  const TextModel& body = model.impl().embedder().model();
  ASSERT_FALSE(golden.taps.empty());
  for (const std::size_t i : golden.taps) {
    const GoldenCase& c = golden.cases[i];
    const std::vector<std::int32_t> cu_seqlens = {0, static_cast<std::int32_t>(c.ids.size())};
    ContextPool::Lease lease(model.impl().embedder().contexts(), cu_seqlens.back());
    std::vector<float> storage(c.ids.size() * static_cast<std::size_t>(body.traits().hidden_size));
    const MutMatrix hidden(storage.data(), static_cast<std::int64_t>(c.ids.size()),
                           body.traits().hidden_size);
    std::size_t seen = 0;
    const auto compare = [&](const std::string& name, ConstMatrix value) {
      const std::vector<double> expected = golden.tap(i, name);
      ASSERT_EQ(expected.size(), static_cast<std::size_t>(value.rows * value.cols));
      for (std::size_t k = 0; k < expected.size(); ++k) {
        // Hidden states are not unit vectors: the tolerance is relative to their size.
        const double scale = std::max(1.0, std::abs(expected[k]));
        ASSERT_NEAR(value.data[k], expected[k], variant().tolerance * scale) << name << " " << k;
      }
      ++seen;
    };
    body.forward(
        *lease,
        {.input_ids = c.ids, .token_type_ids = c.type_ids, .layout = SequenceLayout{cu_seqlens}},
        hidden, [&](std::string_view name, ConstMatrix value) {
          if (name == "embeddings" || name == "layer.0") compare(std::string(name), value);
        });
    compare("last_hidden_state", hidden);
    EXPECT_EQ(seen, 3u);
  }
}

std::vector<std::size_t> variant_indices() {
  std::vector<std::size_t> indices(tiny_variants().size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

INSTANTIATE_TEST_SUITE_P(Variants, TinyModel,
                         testing::Combine(testing::ValuesIn(usable_backends()),
                                          testing::ValuesIn(variant_indices())),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param) + "_" +
                                              tiny_variants()[std::get<1>(test.param)].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(TinyModel, ShardedEqualsSingleBitForBit) {
  std::size_t compared = 0;
  for (const TinyVariant& variant : tiny_variants()) {
    if (variant.same_as.empty()) continue;
    const TinyVariant& other = tiny_variant(variant.same_as);
    const std::vector<std::string> texts = load_golden(variant.golden).texts();
    EmbedOptions options;
    options.truncate = Truncate::kEnd;
    const Embeddings a = Model::from_directory(variant.directory).embed(texts, options);
    const Embeddings b = Model::from_directory(other.directory).embed(texts, options);
    EXPECT_TRUE(
        std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end()));
    ++compared;
  }
  EXPECT_GE(compared, 1u);
}

}  // namespace
}  // namespace lattice
