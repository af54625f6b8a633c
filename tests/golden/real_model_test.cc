// Real models against sentence-transformers in float32. The models come from
// scripts/fetch_model.sh, which ./test runs; a missing one fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "golden/golden_file.h"

namespace lattice {
namespace {

double dot(std::span<const float> a, const double* b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double norm(const double* v, std::size_t n) {
  return std::sqrt(std::inner_product(v, v + n, v, 0.0));
}

double norm(std::span<const float> v) {
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum);
}

class RealModel : public testing::TestWithParam<std::string> {
 protected:
  GoldenFile golden() const {
    return load_golden(std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden" / "real" /
                       GetParam() / "golden");
  }
  Embeddings embed(const ModelOptions& options) const {
    const Model model =
        Model::from_directory(std::filesystem::path(LATTICE_MODELS_DIR) / GetParam(), options);
    EmbedOptions embed_options;
    embed_options.truncate = Truncate::kEnd;
    return model.embed(golden_texts(), embed_options);
  }
  static double min_cosine(const Embeddings& got, const GoldenFile& golden) {
    double least = 1.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      least = std::min(least, dot(got[i], golden.embedding(i)) /
                                  (norm(got[i]) * norm(golden.embedding(i), golden.dimensions)));
    }
    return least;
  }
};

TEST_P(RealModel, TokensAndTruncationAreThoseOfTheLibrary) {
  const GoldenFile expected = golden();
  const Embeddings got = embed({});
  ASSERT_GE(expected.cases.size(), 200u);
  ASSERT_EQ(got.size(), expected.cases.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got.report(i).num_tokens, expected.cases[i].ids.size()) << "text " << i;
    EXPECT_EQ(got.report(i).truncated, expected.cases[i].truncated) << "text " << i;
  }
}

TEST_P(RealModel, F32MatchesSentenceTransformers) {
  const GoldenFile expected = golden();
  const Embeddings got = embed({.dtype = "f32"});
  EXPECT_LE(max_abs_difference(got, expected), 1e-5);
  EXPECT_GE(min_cosine(got, expected), 0.99999);
}

TEST_P(RealModel, Bf16StaysClose) {
  const GoldenFile expected = golden();
  const Embeddings got = embed({.dtype = "bf16"});
  ASSERT_EQ(got.size(), expected.cases.size());
  EXPECT_GE(min_cosine(got, expected), 0.9995);
}

TEST_P(RealModel, Q8StaysClose) {
  const GoldenFile expected = golden();
  const Embeddings got = embed({.dtype = "q8_0"});
  ASSERT_EQ(got.size(), expected.cases.size());
  EXPECT_GE(min_cosine(got, expected), 0.995);
}

TEST_P(RealModel, RanksLikeSentenceTransformers) {
  const GoldenFile expected = golden();
  const Embeddings got = embed({});
  ASSERT_FALSE(expected.rankings.empty());
  for (const GoldenRanking& ranking : expected.rankings) {
    // The golden lists leave no near ties, so each score must be clearly above the next.
    double previous = 2.0;
    for (const std::size_t i : ranking.nearest) {
      const auto a = got[ranking.query];
      const double score = std::inner_product(a.begin(), a.end(), got[i].begin(), 0.0);
      EXPECT_LT(score, previous) << "query " << ranking.query << " text " << i;
      previous = score;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RealModel, testing::Values("all-MiniLM-L6-v2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lattice
