// Cross-encoders against sentence-transformers and transformers in float64 (tools/golden/cross.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/model_impl.h"
#include "golden/cross_golden.h"
#include "support/usable_backends.h"

namespace lattice {
namespace {

// A language model without a template of its own gets the rerankers' published prompt here, where
// the library puts query and document one behind the other, which ranks at random.
constexpr const char* kWithoutTemplate = "qwen3-causal-no-template";

class CrossEncoderGolden : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  CrossEncoderGolden()
      : variant_(cross_variants()[std::get<1>(GetParam())]),
        golden_(load_cross_golden(variant_)),
        model_(Model::from_directory(variant_.directory, {.device = std::get<0>(GetParam())})) {}

  std::size_t width() const { return golden_.labels.size(); }

  TextPair input(std::size_t i) const { return {golden_.cases[i].text, golden_.cases[i].pair}; }

  std::optional<std::string> instruction(std::size_t i) const {
    if (golden_.instructions.empty()) return std::nullopt;
    return golden_.instructions[i];
  }

  void expect_row_near(std::span<const float> got, const std::vector<double>& expected,
                       std::size_t i, const char* what) const {
    for (std::size_t label = 0; label < width(); ++label) {
      EXPECT_NEAR(got[label], expected[i * width() + label], variant_.tolerance)
          << what << " of case " << i << ", label " << label;
    }
  }

  void check_labels_and_limit();
  void check_logits();
  void check_tokens();
  void check_ranking();
  void check_classes();
  void check_bits();

  const CrossVariant& variant_;
  CrossGolden golden_;
  Model model_;
};

void CrossEncoderGolden::check_labels_and_limit() {
  EXPECT_EQ(model_.info().labels, golden_.labels);
  EXPECT_EQ(model_.impl().scorer().limit().max_tokens,
            static_cast<std::int64_t>(golden_.max_seq_length));
}

void CrossEncoderGolden::check_logits() {
  std::vector<TokenizedText> texts;
  for (const GoldenCase& c : golden_.cases) texts.push_back(tokenized(c));
  const std::vector<float> logits = model_.impl().scorer().score_tokenized(texts, 2048);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    expect_row_near(std::span(logits).subspan(i * width(), width()), golden_.logits, i, "logits");
  }
}

void CrossEncoderGolden::check_tokens() {
  if (variant_.name == kWithoutTemplate) return;  // see CrossEncoderPrompt
  const Scorer& scorer = model_.impl().scorer();
  for (std::size_t i = 0; i < golden_.cases.size(); ++i) {
    const GoldenCase& c = golden_.cases[i];
    PairRequest request = scorer.request({});
    request.instruction = instruction(i);
    const TokenizedText text = scorer.encoder().encode(input(i), request);
    EXPECT_EQ(text.ids, c.ids) << "case " << i << ": " << c.text;
    if (variant_.family == "bert") EXPECT_EQ(text.type_ids, c.type_ids) << "case " << i;
    EXPECT_EQ(text.truncated, c.truncated) << "case " << i;
  }
}

void CrossEncoderGolden::check_ranking() {
  if (variant_.name == kWithoutTemplate || width() != 1) return;  // rerank is for one label
  for (const CrossGroup& group : golden_.groups) {
    std::vector<std::string> documents;
    for (const std::size_t i : group.cases) documents.push_back(*golden_.cases[i].pair);
    RerankOptions options;
    options.instruction = instruction(group.cases[0]);
    const std::vector<RankedDocument> ranking = model_.rerank(group.query, documents, options);
    std::vector<std::size_t> order;
    for (const RankedDocument& document : ranking) {
      const std::size_t i = group.cases[document.index];
      order.push_back(document.index);
      expect_row_near(std::span(&document.logit, 1), golden_.logits, i, "logit");
      expect_row_near(std::span(&document.score, 1), golden_.scores, i, "score");
      EXPECT_EQ(document.report.truncated, golden_.cases[i].truncated);
    }
    EXPECT_EQ(order, group.order) << group.query;

    options.raw = true;
    options.top_n = 2;
    const std::vector<RankedDocument> best = model_.rerank(group.query, documents, options);
    ASSERT_EQ(best.size(), 2u);
    EXPECT_EQ(best[1].index, ranking[1].index);
    EXPECT_EQ(best[1].score, ranking[1].logit);
  }
}

void CrossEncoderGolden::check_classes() {
  if (variant_.name == kWithoutTemplate || !golden_.instructions.empty()) return;
  std::vector<TextPair> texts;
  for (std::size_t i = 0; i < golden_.cases.size(); ++i) texts.push_back(input(i));
  ClassifyOptions options;
  options.truncate = Truncate::kEnd;
  const Classifications rows = model_.classify(texts, options);
  options.raw = true;
  const Classifications raw = model_.classify(texts, options);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    expect_row_near(rows.logits(i), golden_.logits, i, "logits");
    expect_row_near(rows.scores(i), golden_.probabilities, i, "probabilities");
    EXPECT_TRUE(std::ranges::equal(raw.scores(i), raw.logits(i)));
  }
}

// Every text alone has the bits that it has in any batch, with any number of threads.
void CrossEncoderGolden::check_bits() {
  std::vector<TokenizedText> texts;
  for (const GoldenCase& c : golden_.cases) texts.push_back(tokenized(c));
  const std::vector<float> expected = model_.impl().scorer().score_tokenized(texts, 2048);
  EXPECT_EQ(model_.impl().scorer().score_unshared(texts, 2048), expected) << "shared prefix";
  for (const std::size_t num_threads : {1u, 3u}) {
    const Model other = Model::from_directory(
        variant_.directory, {.device = std::get<0>(GetParam()), .num_threads = num_threads});
    for (const std::size_t batch_tokens : {1u, 100u}) {
      EXPECT_EQ(other.impl().scorer().score_tokenized(texts, batch_tokens), expected)
          << num_threads << " threads, " << batch_tokens << " tokens";
    }
  }
}

// One test a variant: each runs in a process of its own, which costs more than the checks.
TEST_P(CrossEncoderGolden, IsTheLibrarys) {
  check_labels_and_limit();
  check_logits();
  check_tokens();
  check_ranking();
  check_classes();
  // A GPU selects kernels by the number of tokens: the same values, not the same bits.
  if (std::get<0>(GetParam()) != "metal") check_bits();
}

std::vector<std::size_t> variant_indices() {
  std::vector<std::size_t> indices(cross_variants().size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

INSTANTIATE_TEST_SUITE_P(Variants, CrossEncoderGolden,
                         testing::Combine(testing::ValuesIn(usable_backends()),
                                          testing::ValuesIn(variant_indices())),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param) + "_" +
                                              cross_variants()[std::get<1>(test.param)].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(CrossEncoderPrompt, ALanguageModelWithoutATemplateGetsThePublishedPrompt) {
  const Model model = Model::from_directory(cross_variant(kWithoutTemplate).directory);
  const Model official = Model::from_directory(cross_variant("qwen3-official-template").directory);
  const TextPair pair{"a query", "a document"};
  const auto ids = [&](const Model& m) {
    const Scorer& scorer = m.impl().scorer();
    return scorer.encoder().encode(pair, {.max_length = 200, .max_length_source = "test"}).ids;
  };
  EXPECT_EQ(ids(model), ids(official));
}

}  // namespace
}  // namespace lattice
