// Retrieval quality on the example corpus, with the real model: how often the expected passage is
// among the first k for its question. The expected counts are those of sentence-transformers on the
// same files (examples/corpus/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/json.h"
#include "lattice/model.h"

namespace lattice {
namespace {

constexpr std::size_t kNumPassages = 420;
constexpr std::size_t kNumQueries = 54;

struct Corpus {
  std::vector<std::string> passage_ids;
  std::vector<std::string> passages;
  std::vector<std::string> queries;
  std::vector<std::string> expected;  // a passage id per query
};

// The rows of a JSON-lines file.
std::vector<JsonDocument> read_rows(const std::filesystem::path& path) {
  std::vector<JsonDocument> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto row = JsonDocument::parse(line, path.string());
    if (!row) throw LatticeError(row.error());
    rows.push_back(std::move(*row));
  }
  return rows;
}

std::string text_of(const Json& row, const char* key) {
  return std::string(row.find(key)->as_string().value());
}

Corpus read_corpus() {
  const std::filesystem::path folder =
      std::filesystem::path(LATTICE_SOURCE_DIR) / "examples" / "corpus";
  Corpus corpus;
  for (const JsonDocument& row : read_rows(folder / "passages.jsonl")) {
    corpus.passage_ids.push_back(text_of(row.root(), "id"));
    corpus.passages.push_back(text_of(row.root(), "text"));
  }
  for (const JsonDocument& row : read_rows(folder / "queries.jsonl")) {
    corpus.queries.push_back(text_of(row.root(), "query"));
    corpus.expected.emplace_back(row.root().find("expected")->items()[0].as_string().value());
  }
  return corpus;
}

// The place, from 0, of passage `expected` when all are ordered by their product with `query`.
std::size_t rank_of(const Embeddings& passages, std::span<const float> query,
                    std::size_t expected) {
  const auto score = [&](std::size_t i) {
    return std::inner_product(query.begin(), query.end(), passages[i].begin(), 0.0F);
  };
  const float expected_score = score(expected);
  std::size_t rank = 0;
  for (std::size_t i = 0; i < passages.size(); ++i) rank += score(i) > expected_score ? 1 : 0;
  return rank;
}

struct Recall {
  std::size_t at_1 = 0;
  std::size_t at_5 = 0;
  std::size_t at_10 = 0;
};

Recall measure(const ModelOptions& options) {
  const std::filesystem::path model_dir =
      std::filesystem::path(LATTICE_MODELS_DIR) / "all-MiniLM-L6-v2";
  const Corpus corpus = read_corpus();
  EXPECT_EQ(corpus.passages.size(), kNumPassages);
  EXPECT_EQ(corpus.queries.size(), kNumQueries);
  const Model model = Model::from_directory(model_dir, options);
  const Embeddings passages = model.embed(corpus.passages);
  const Embeddings queries = model.embed(corpus.queries);
  Recall recall;
  for (std::size_t q = 0; q < corpus.queries.size(); ++q) {
    const auto found = std::ranges::find(corpus.passage_ids, corpus.expected[q]);
    const auto expected = static_cast<std::size_t>(found - corpus.passage_ids.begin());
    if (expected == corpus.passage_ids.size()) {
      ADD_FAILURE() << "no passage " << corpus.expected[q];
      continue;
    }
    const std::size_t rank = rank_of(passages, queries[q], expected);
    recall.at_1 += rank < 1 ? 1 : 0;
    recall.at_5 += rank < 5 ? 1 : 0;
    recall.at_10 += rank < 10 ? 1 : 0;
  }
  return recall;
}

TEST(Retrieval, FindsWhatSentenceTransformersFinds) {
  const Recall recall = measure({.dtype = "f32"});
  EXPECT_EQ(recall.at_1, 46U);
  EXPECT_EQ(recall.at_5, 51U);
  EXPECT_EQ(recall.at_10, 52U);
}

TEST(Retrieval, Bf16FindsAlmostTheSame) {
  const Recall recall = measure({.dtype = "bf16"});
  EXPECT_GE(recall.at_1, 45U);
  EXPECT_GE(recall.at_5, 50U);
  EXPECT_GE(recall.at_10, 51U);
}

TEST(Retrieval, Q8FindsAlmostTheSame) {
  const Recall recall = measure({.dtype = "q8_0"});
  EXPECT_GE(recall.at_1, 45U);
  EXPECT_GE(recall.at_5, 50U);
  EXPECT_GE(recall.at_10, 51U);
}

}  // namespace
}  // namespace lattice
