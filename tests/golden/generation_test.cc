// Tiny random language models against transformers in float64 (tools/golden/generation.py): logits,
// intermediate values, losses and greedy continuations, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include "backends/registry.h"
#include "engine/generation/logprobs.h"
#include "engine/generation/perplexity.h"
#include "engine/model_impl.h"
#include "engine/quantize.h"
#include "golden/generation_golden.h"
#include "support/checking_backend.h"
#include "support/temp_dir.h"
#include "support/usable_backends.h"

namespace lattice {
namespace {

constexpr double kTolerance = 1e-4;
// Of hidden states, relative to their size: a Gated DeltaNet layer's output may be tiny, and its
// norm magnifies what f32 lost of it.
constexpr double kTapTolerance = 3e-4;
// Two tokens closer than this may change places.
constexpr double kGap = 1e-3;
// The reference backend is slow; what it specifies shows in short prompts too.
constexpr std::size_t kReferenceTokens = 130;

class GenerationGoldenTest : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  const GenerationVariant& variant() const {
    return generation_variants()[std::get<1>(GetParam())];
  }
  std::string device() const { return std::get<0>(GetParam()); }
  Model load() const {
    return Model::from_directory(variant().directory, {.device = device(), .num_threads = 2});
  }
  bool too_long(const GenerationCase& c) const {
    return device() == "reference" && c.ids.size() > kReferenceTokens;
  }
};

TEST_P(GenerationGoldenTest, LastLogits) {
  const GenerationGolden golden = load_generation_golden(variant());
  const Model model = load();
  const LanguageModel& language_model = model.impl().generator().model();
  std::size_t compared = 0;
  for (const GenerationCase& c : golden.cases) {
    if (too_long(c)) continue;
    EXPECT_LE(max_abs_difference(last_logits(language_model, c.ids), c.logits), kTolerance)
        << c.ids.size() << " tokens";
    ++compared;
  }
  EXPECT_GE(compared, 3u);
}

TEST_P(GenerationGoldenTest, Taps) {
  const GenerationGolden golden = load_generation_golden(variant());
  const Model model = load();
  const TextModel& body = *model.impl().model().body;
  ASSERT_FALSE(golden.taps.empty());
  for (const std::size_t i : golden.taps) {
    const std::vector<std::int32_t>& ids = golden.cases[i].ids;
    const std::vector<std::int32_t> cu_seqlens = {0, static_cast<std::int32_t>(ids.size())};
    ContextPool::Lease lease(*model.impl().model().contexts, 1);
    const auto rows = static_cast<std::int64_t>(ids.size());
    std::vector<float> storage(ids.size() * static_cast<std::size_t>(body.traits().hidden_size));
    const MutMatrix hidden(storage.data(), rows, body.traits().hidden_size);
    std::size_t seen = 0;
    const auto compare = [&](std::string_view name, ConstMatrix value) {
      const auto expected = golden.tensor("tap." + std::to_string(i) + "." + std::string(name));
      ASSERT_EQ(expected.size(), static_cast<std::size_t>(value.rows * value.cols));
      for (std::size_t k = 0; k < expected.size(); ++k) {
        // Hidden states have no fixed size: the tolerance is relative to theirs.
        const double scale = std::max(1.0, std::abs(expected[k]));
        ASSERT_NEAR(value.data[k], expected[k], kTapTolerance * scale) << name << " " << k;
      }
      ++seen;
    };
    body.forward(*lease, {.input_ids = ids, .token_type_ids = {}, .layout = {cu_seqlens}}, hidden,
                 compare);
    compare("last_hidden_state", hidden);
    EXPECT_EQ(seen, static_cast<std::size_t>(body.traits().num_hidden_layers) + 2);
  }
}

// The variants whose goldens hold losses and pooled vectors, or greedy tokens.
class GenerationScoredTest : public GenerationGoldenTest {};
class GenerationGreedyTest : public GenerationGoldenTest {};

TEST_P(GenerationScoredTest, LossesAndPooledVectors) {
  const GenerationGolden golden = load_generation_golden(variant());
  const Model model = load();
  ASSERT_FALSE(golden.scored.empty());
  for (const std::size_t i : golden.scored) {
    const GenerationCase& c = golden.cases[i];
    const std::string index = std::to_string(i);
    const std::vector<double> losses = golden.tensor("nll." + index);
    const Perplexity got =
        measure_perplexity(model.impl().generator().model(), c.ids, c.ids.size(), c.ids.size() - 1);
    EXPECT_EQ(got.num_tokens, losses.size());
    EXPECT_NEAR(got.negative_log_likelihood, std::accumulate(losses.begin(), losses.end(), 0.0),
                kTolerance * static_cast<double>(losses.size()));
    for (const auto& [pooling, name] :
         {std::pair{Pooling::kMean, "mean"}, {Pooling::kLast, "last"}}) {
      const std::vector<std::vector<std::int32_t>> texts{c.ids};
      const Embeddings vectors = model.embed_ids(texts, {.pooling = pooling, .normalize = false});
      EXPECT_LE(max_abs_difference(vectors[0],
                                   golden.tensor("pooled." + std::string(name) + "." + index)),
                kTolerance)
          << name;
    }
  }
}

// Token by token behind one prefill; where the two likeliest tokens are as good as equal the texts
// may part, and the rest says nothing.
TEST_P(GenerationGreedyTest, GreedyTokens) {
  const GenerationGolden golden = load_generation_golden(variant());
  const Model model = load();
  const LanguageModel& language_model = model.impl().generator().model();
  std::size_t compared = 0;
  for (const GenerationCase& c : golden.cases) {
    if (c.greedy.empty() || too_long(c)) continue;
    const std::unique_ptr<DecoderState> state = language_model.make_state();
    std::vector<std::int32_t> next = c.ids;
    std::vector<float> logits;
    for (std::size_t t = 0; t < c.greedy.size(); ++t) {
      const LanguageModel::Input input{next, state.get(), 1};
      language_model.forward({&input, 1}, logits);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      if (c.gaps[t] < kGap) break;
      ASSERT_EQ(best, c.greedy[t]) << "token " << t << " behind " << c.ids.size();
      next = {c.greedy[t]};
      ++compared;
    }
  }
  EXPECT_GE(compared, 32u);
}

// Prefill and decoding mixed, in any company: the bits of one pass over the prompt alone.
TEST_P(GenerationGoldenTest, EverySplitAndBatchHasTheSameBits) {
  const GenerationGolden golden = load_generation_golden(variant());
  const Model model = load();
  const LanguageModel& language_model = model.impl().generator().model();
  for (const GenerationCase& c : golden.cases) {
    if (c.ids.size() < 63 || c.ids.size() > 300 || too_long(c)) continue;
    const std::vector<float> whole = last_logits(language_model, c.ids);
    for (const std::vector<std::size_t>& passes : {std::vector<std::size_t>(c.ids.size(), 1),
                                                   {1, 62, 1, 1},
                                                   {c.ids.size() - 1},
                                                   {7, 60},
                                                   {64, 64}}) {
      EXPECT_EQ(last_logits(language_model, c.ids, passes), whole) << c.ids.size();
    }
  }
  std::vector<std::unique_ptr<DecoderState>> states;
  std::vector<LanguageModel::Input> inputs;
  for (const GenerationCase& c : golden.cases) {
    if (c.ids.size() > 300 || too_long(c)) continue;
    states.push_back(language_model.make_state());
    inputs.push_back({c.ids, states.back().get(), 1});
  }
  std::vector<float> logits;
  language_model.forward(inputs, logits);
  const auto vocab = static_cast<std::size_t>(language_model.vocab_size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto row = std::span<const float>(logits).subspan(i * vocab, vocab);
    EXPECT_TRUE(std::ranges::equal(row, last_logits(language_model, inputs[i].ids)))
        << inputs[i].ids.size() << " tokens";
  }
}

// transformers falls back to 10000; a checkpoint that names no theta is more likely broken.
constexpr const char* kRefused = "rope-absent";

TEST(GenerationGolden, AConfigWithoutRopeThetaIsRefused) {
  try {
    Model::from_directory(generation_variant(kRefused).directory);
    FAIL() << "it was loaded";
  } catch (const LatticeError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kMalformed);
    EXPECT_NE(std::string(error.what()).find("rope_theta"), std::string::npos) << error.what();
  }
}

// Those whose goldens lie in one of `folders`; all of them without any.
std::vector<std::size_t> variant_indices(const std::vector<std::string>& folders = {}) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < generation_variants().size(); ++i) {
    const GenerationVariant& variant = generation_variants()[i];
    const std::string folder = variant.golden.parent_path().filename().string();
    const bool wanted = folders.empty() || std::ranges::find(folders, folder) != folders.end();
    if (wanted && variant.name != kRefused) indices.push_back(i);
  }
  return indices;
}

// Q8_0 is coarse, but it is the same coarse arithmetic on every backend. It is compared product by
// product: what f32 sums differ by moves an activation to the next of its 255 steps now and then,
// after which whole logits say little.
TEST(GenerationQ8, EveryProductIsTheReferenceBackends) {
  for (const char* name : {"tied", "v-heads-4", "head-dim-128", "real-heads", "qwen3-tied"}) {
    const GenerationVariant& variant = generation_variant(name);
    const Model model =
        Model::from_directory(variant.directory, {.device = "cpu", .dtype = "q8_0"});
    const auto checking =
        std::make_shared<const CheckingBackend>(value_or_throw(make_backend("reference")));
    Context context(checking, std::make_shared<ThreadPool>(2));
    const TextModel& body = *model.impl().model().body;
    for (const GenerationCase& c : load_generation_golden(variant).cases) {
      if (c.ids.size() > kReferenceTokens) continue;
      const std::vector<std::int32_t> cu_seqlens = {0, static_cast<std::int32_t>(c.ids.size())};
      std::vector<float> hidden(c.ids.size() * static_cast<std::size_t>(body.traits().hidden_size));
      body.forward(
          context, {.input_ids = c.ids, .token_type_ids = {}, .layout = {cu_seqlens}},
          {hidden.data(), static_cast<std::int64_t>(c.ids.size()), body.traits().hidden_size});
    }
    EXPECT_LE(checking->worst(), 1e-5) << name;
    EXPECT_GE(checking->num_products(), 40u);
  }
}

TEST(GenerationQ8, AQuantizedCopyGivesTheBitsOfQuantizingWhenLoaded) {
  for (const char* name : {"tied", "untied", "nested", "sharded", "v-heads-6", "qwen3-untied"}) {
    const GenerationVariant& variant = generation_variant(name);
    const TempDir dir;
    quantize_model(variant.directory, dir / "copy");
    const Model copy = Model::from_directory(dir / "copy");
    EXPECT_EQ(copy.info().compute_dtype, "q8_0");
    const Model loaded = Model::from_directory(variant.directory, {.dtype = "q8_0"});
    for (const GenerationCase& c : load_generation_golden(variant).cases) {
      EXPECT_EQ(last_logits(copy.impl().generator().model(), c.ids),
                last_logits(loaded.impl().generator().model(), c.ids))
          << name << " " << c.ids.size();
    }
  }
}

// It is another arithmetic than f32, and not far from it.
TEST(GenerationQ8, LogitsAreNearF32) {
  for (const char* name : {"tied", "untied", "qwen3-tied"}) {
    const GenerationVariant& variant = generation_variant(name);
    const Model q8 = Model::from_directory(variant.directory, {.device = "cpu", .dtype = "q8_0"});
    for (const GenerationCase& c : load_generation_golden(variant).cases) {
      const double difference =
          max_abs_difference(last_logits(q8.impl().generator().model(), c.ids), c.logits);
      EXPECT_GT(difference, 1e-4) << name << " " << c.ids.size();
      EXPECT_LT(difference, 3.0) << name << " " << c.ids.size();
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::tuple<std::string, std::size_t>>& test) {
  std::string name =
      std::get<0>(test.param) + "_" + generation_variants()[std::get<1>(test.param)].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Variants, GenerationGoldenTest,
                         testing::Combine(testing::ValuesIn(usable_backends()),
                                          testing::ValuesIn(variant_indices())),
                         test_name);
INSTANTIATE_TEST_SUITE_P(
    Variants, GenerationScoredTest,
    testing::Combine(testing::ValuesIn(usable_backends()),
                     testing::ValuesIn(variant_indices({"tied", "untied", "v-heads-4",
                                                        "head-dim-128", "qwen3-tied"}))),
    test_name);
INSTANTIATE_TEST_SUITE_P(Variants, GenerationGreedyTest,
                         testing::Combine(testing::ValuesIn(usable_backends()),
                                          testing::ValuesIn(variant_indices(
                                              {"tied", "untied", "v-heads-4", "head-dim-128",
                                               "qwen3-tied", "qwen3-untied"}))),
                         test_name);

}  // namespace
}  // namespace lattice
