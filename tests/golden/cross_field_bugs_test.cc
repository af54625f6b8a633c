// Faults that users met elsewhere when they scored pairs; each must not occur here.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "engine/model_impl.h"
#include "golden/cross_golden.h"
#include "support/sanitizer.h"

namespace lattice {
namespace {

Model load(const std::string& name) { return Model::from_directory(cross_variant(name).directory); }

std::vector<std::string> pair_tokens(const Model& model, const std::string& query,
                                     const std::string& document) {
  const Scorer& scorer = model.impl().scorer();
  std::vector<std::string> tokens;
  for (const std::int32_t id : scorer.encoder().encode({query, document}, scorer.request({})).ids) {
    tokens.push_back(model.tokenizer().id_to_token(id).value_or("?"));
  }
  return tokens;
}

std::string decoded_prompt(const Model& model, const TextPair& pair) {
  const Scorer& scorer = model.impl().scorer();
  const TokenizedText text = scorer.encoder().encode(pair, scorer.request({}));
  return model.tokenizer().decode(text.ids, /*skip_special_tokens=*/false);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(CrossFieldBugs, XlmRPairsHaveTwoSeparatorsInTheMiddle) {
  const std::vector<std::string> tokens =
      pair_tokens(load("xlmr-1-label"), "A red apple", "A llama in the garden");
  EXPECT_EQ(tokens.front(), "<s>");
  EXPECT_EQ(tokens.back(), "</s>");
  std::vector<std::size_t> separators;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    EXPECT_NE(tokens[i], "<s>");
    if (tokens[i] == "</s>") separators.push_back(i);
  }
  ASSERT_EQ(separators.size(), 3u);
  EXPECT_EQ(separators[1], separators[0] + 1);
}

TEST(CrossFieldBugs, BertPairsHaveTypeIdsZeroThenOne) {
  const Model model = load("bert-1-label");
  const Scorer& scorer = model.impl().scorer();
  const TokenizedText text =
      scorer.encoder().encode({"A red apple", "A llama"}, scorer.request({}));
  EXPECT_EQ(text.type_ids.front(), 0);
  EXPECT_EQ(text.type_ids.back(), 1);
  EXPECT_TRUE(std::is_sorted(text.type_ids.begin(), text.type_ids.end()));
}

TEST(CrossFieldBugs, NothingIsInsertedWhereTheTokenizerHasNoSeparator) {
  const Model model = load("qwen3-seq-cls");
  EXPECT_EQ(decoded_prompt(model, {"ping", "pong"}), "pingpong");
}

TEST(CrossFieldBugs, RerankersGetTheirTemplateAndYesAgainstNo) {
  const Model model = load("qwen3-official-template");
  const std::string prompt = decoded_prompt(model, {"What is a llama?", "An animal."});
  EXPECT_EQ(prompt.find("<|im_start|>system\nJudge whether the Document meets"), 0u);
  EXPECT_NE(prompt.find("<Instruct>: Given a web search query, retrieve relevant passages that "
                        "answer the query\n<Query>: What is a llama?\n<Document>: An animal."
                        "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"),
            std::string::npos);
  EXPECT_EQ(model.impl().scorer().num_labels(), 1);
}

TEST(CrossFieldBugs, QueryAndDocumentArriveAndTheSuffixIsThereOnce) {
  for (const char* name : {"qwen3-logit-score", "qwen3-causal-plain", "qwen3-official-template"}) {
    const std::string prompt = decoded_prompt(load(name), {"the query", "the document"});
    EXPECT_NE(prompt.find("<Query>: the query\n<Document>: the document<|im_end|>"),
              std::string::npos)
        << name;
    EXPECT_EQ(count(prompt, "<|im_start|>assistant"), 1u) << name;
    EXPECT_EQ(count(prompt, "</think>"), 1u) << name;
  }
}

TEST(CrossFieldBugs, AModelWithoutAHeadIsRefused) {
  const Model model = Model::from_directory(tiny_variant("qwen3-base").directory);
  EXPECT_THROW(model.rerank("q", std::vector<std::string>{"a"}), LatticeError);
}

TEST(CrossFieldBugs, ScoresAreNeverNanAndNotAllTiny) {
  for (const CrossVariant& variant : cross_variants()) {
    const Model model = Model::from_directory(variant.directory);
    if (model.impl().scorer().num_labels() != 1) continue;
    if (variant.name == "qwen3-causal-no-template") continue;  // too short for the prompt it gets
    const std::vector<std::string> documents{"It is late!", "", " ", "\xF0\x9F\x91\x8D", "a b c"};
    for (const RankedDocument& document : model.rerank("What time is it?", documents)) {
      EXPECT_TRUE(std::isfinite(document.score)) << variant.name;
      EXPECT_TRUE(std::isfinite(document.logit)) << variant.name;
      EXPECT_GT(std::abs(document.score), 1e-12) << variant.name;
    }
  }
}

TEST(CrossFieldBugs, LogitsAndScoresAreToldApart) {
  const std::vector<std::string> documents{"It is late!"};
  const RankedDocument sigmoid = load("bert-1-label").rerank("q", documents)[0];
  EXPECT_NEAR(sigmoid.score, 1.0 / (1.0 + std::exp(-static_cast<double>(sigmoid.logit))), 1e-6);
  const Model identity = load("bert-identity");  // what the ms-marco models say
  const RankedDocument raw = identity.rerank("q", documents)[0];
  EXPECT_EQ(raw.score, raw.logit);
  EXPECT_EQ(identity.info().rerank_function.value, "identity");
  EXPECT_NE(identity.info().rerank_function.source.find("activation_fn"), std::string::npos);
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST(CrossFieldBugs, MemoryReachesAPlateauOverManyCallsOfAnyLength) {
  if (resident_bytes() == 0) GTEST_SKIP() << "hardware: no Linux, which counts resident pages";
  const Model model = load("bert-1-label");
  std::mt19937 random(1);
  const auto call = [&] {
    std::string document;
    for (auto words = random() % 60; words > 0; --words) document += "late ";
    std::vector<std::string> documents(1 + random() % 5, document);
    model.rerank("What time is it?", documents);
  };
  for (int i = 0; i < 500; ++i) call();
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 4000; ++i) call();
  const std::size_t allowance = std::size_t{kSanitized ? 512 : 8} << 20;
  EXPECT_LT(resident_bytes(), before + allowance);
}

}  // namespace
}  // namespace lattice
