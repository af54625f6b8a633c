// What Model::rerank and Model::classify promise beyond the numbers.
#include <gtest/gtest.h>

#include "lattice/model.h"
#include "support/expect_refused.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

std::filesystem::path cross_directory(const std::string& name) {
  return std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden" / "cross" / name;
}

const Model& reranker() {
  static const Model instance = Model::from_directory(cross_directory("bert-1-label"));
  return instance;
}

std::string repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Rerank, EqualDocumentsKeepTheirOrder) {
  const std::vector<std::string> documents{"It is late!", "a", "It is late!", "It is late!"};
  const std::vector<RankedDocument> ranking = reranker().rerank("What time is it?", documents);
  std::vector<std::size_t> equal;
  for (const RankedDocument& document : ranking) {
    if (document.index != 1) equal.push_back(document.index);
  }
  EXPECT_EQ(equal, (std::vector<std::size_t>{0, 2, 3}));
}

TEST(Rerank, NoDocumentsIsAnEmptyRanking) {
  EXPECT_TRUE(reranker().rerank("q", std::vector<std::string>{}).empty());
}

TEST(Rerank, TopNIsTheHeadOfTheFullRanking) {
  std::vector<std::string> documents;
  for (int i = 0; i < 40; ++i) documents.push_back(repeat("tea ", i % 7) + "late");
  RerankOptions options;
  const std::vector<RankedDocument> all = reranker().rerank("time", documents, options);
  options.top_n = 9;
  const std::vector<RankedDocument> best = reranker().rerank("time", documents, options);
  ASSERT_EQ(best.size(), 9u);
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(best[i].index, all[i].index);
    EXPECT_EQ(best[i].logit, all[i].logit);
  }
}

TEST(Rerank, OverLongDocumentsByPolicy) {
  const std::vector<std::string> documents{"short", repeat("the cat ", 200)};
  RerankOptions options;
  options.truncate = Truncate::kError;
  expect_refused([&] { reranker().rerank("q", documents, options); }, ErrorCode::kTooLong,
                 "document 1");
  options.skip_errors = true;
  const std::vector<RankedDocument> ranking = reranker().rerank("q", documents, options);
  ASSERT_TRUE(ranking[1].report.error.has_value());
  EXPECT_EQ(ranking[1].index, 1u);

  options = {};
  for (const Truncate side : {Truncate::kEnd, Truncate::kStart}) {
    options.truncate = side;
    for (const RankedDocument& document : reranker().rerank("q", documents, options)) {
      EXPECT_EQ(document.report.truncated, document.index == 1);
    }
  }
}

// The end of a long document decides only where it is seen.
TEST(Rerank, WindowsSeeTheWholeDocument) {
  const std::string filler = repeat("the cat ", 60);
  RerankOptions options;
  const auto logits = [&](const std::string& document) {
    return reranker().rerank("q", std::vector<std::string>{document}, options)[0].logit;
  };
  EXPECT_EQ(logits(filler), logits(filler + "It is late!"));
  options.windows = true;
  const float window = logits(filler + "It is late!");
  EXPECT_GE(window, logits(filler));
  EXPECT_GE(window, logits("It is late!") - 10.0f);
  const RankedDocument ranked =
      reranker().rerank("q", std::vector<std::string>{filler}, options)[0];
  EXPECT_FALSE(ranked.report.truncated);
}

TEST(Rerank, WindowsNeedRoomBesideTheQuery) {
  RerankOptions options;
  options.windows = true;
  expect_refused(
      [&] { reranker().rerank(repeat("time ", 60), std::vector<std::string>{"a"}, options); },
      ErrorCode::kTooLong, "no room for windows");
}

TEST(Rerank, RefusesWhatTheModelCannotDo) {
  const std::vector<std::string> documents{"a"};
  const Model three = Model::from_directory(cross_directory("bert-3-labels"));
  expect_refused([&] { three.rerank("q", documents); }, ErrorCode::kUnsupported, "3");
  const Model embedder = Model::from_directory(tiny_directory("bert-mean"));
  expect_refused([&] { embedder.rerank("q", documents); }, ErrorCode::kUnsupported, "head");
  const Model modular = Model::from_directory(cross_directory("bert-modular"));
  expect_refused([&] { modular.embed(documents); }, ErrorCode::kUnsupported, "cross-encoder");
  RerankOptions options;
  options.instruction = "find";
  expect_refused([&] { reranker().rerank("q", documents, options); }, ErrorCode::kInvalidArgument,
                 "instruction");
  options = {};
  options.max_length = 1000000;
  expect_refused([&] { reranker().rerank("q", documents, options); }, ErrorCode::kInvalidArgument,
                 "max_length");
}

TEST(Rerank, InvalidUtf8NamesTheDocument) {
  const std::vector<std::string> documents{"a", "b\xff"};
  expect_refused([&] { reranker().rerank("q", documents); }, ErrorCode::kInvalidArgument,
                 "document 1");
}

TEST(Classify, OverLongTextIsAnErrorByDefault) {
  const Model model = Model::from_directory(cross_directory("bert-3-labels"));
  const std::vector<TextPair> texts{{"a"}, {repeat("the cat ", 200)}};
  expect_refused([&] { model.classify(texts); }, ErrorCode::kTooLong, "text 1");
}

// Half a head would be a random one.
TEST(CrossEncoderFaults, AMissingTensorIsNamed) {
  for (const char* name : {"bert.pooler.dense.bias", "bert.pooler.dense.weight",
                           "classifier.weight", "classifier.bias"}) {
    const TempDir dir;
    std::filesystem::copy(cross_directory("bert-1-label"), dir.path(),
                          std::filesystem::copy_options::recursive);
    std::string content = read_file(dir / "model.safetensors");
    const std::string quoted = std::string("\"") + name + '"';
    const std::size_t at = content.find(quoted);
    ASSERT_NE(at, std::string::npos) << name;
    content[at + 1] = 'x';  // another tensor now
    dir.write("model.safetensors", content);
    expect_refused([&] { Model::from_directory(dir.path()); }, ErrorCode::kNotFound, name);
  }
}

// An untied language model whose lm_head was left out has no yes and no, but embeds.
TEST(CrossEncoderFaults, ALanguageModelWithoutItsHeadStillEmbeds) {
  const TempDir dir;
  std::filesystem::copy(cross_directory("qwen3-causal-untied"), dir.path(),
                        std::filesystem::copy_options::recursive);
  std::string content = read_file(dir / "model.safetensors");
  const std::size_t at = content.find("\"lm_head.weight\"");
  ASSERT_NE(at, std::string::npos);
  content[at + 1] = 'x';
  dir.write("model.safetensors", content);
  const Model model = Model::from_directory(dir.path());
  const std::vector<std::string> texts{"a"};
  EXPECT_EQ(model.embed(texts).size(), 1u);
  expect_refused([&] { model.rerank("q", texts); }, ErrorCode::kUnsupported, "head");
}

}  // namespace
}  // namespace lattice
