// What Model::embed refuses, and with which words.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lattice/model.h"
#include "support/tiny_models.h"

namespace lattice {
namespace {

class EmbedOptionsTest : public testing::Test {
 protected:
  static const Model& model() {
    static const Model instance = Model::from_directory(tiny_directory("bert-mean"));
    return instance;
  }
  static void expect_refused(const std::vector<std::string>& texts, const EmbedOptions& options,
                             ErrorCode code, const std::string& names) {
    try {
      model().embed(texts, options);
      ADD_FAILURE() << "accepted; expected an error naming " << names;
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
    }
  }
};

TEST_F(EmbedOptionsTest, DimensionsOutsideTheRange) {
  for (const std::int64_t dimensions : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{37}}) {
    expect_refused({"a"}, {.dimensions = dimensions}, ErrorCode::kInvalidArgument,
                   "dimensions: expected 1..36");
  }
}

TEST_F(EmbedOptionsTest, UnknownPromptName) {
  expect_refused({"a"}, {.prompt_name = "query"}, ErrorCode::kInvalidArgument, "query");
}

TEST_F(EmbedOptionsTest, PromptAndPromptNameTogether) {
  expect_refused({"a"}, {.prompt_name = "x", .prompt = "y"}, ErrorCode::kInvalidArgument,
                 "exclude");
}

TEST_F(EmbedOptionsTest, OverLongTextIsAnErrorNamingIndexAndLength) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "cat ";
  for (const std::vector<std::string>& texts :
       {std::vector<std::string>{"a", text}, std::vector<std::string>{"b", text, "c"}}) {
    expect_refused(texts, {}, ErrorCode::kTooLong, "text 1: the text has");
  }
  EmbedOptions options;
  options.truncate = Truncate::kEnd;
  const Embeddings cut = model().embed(std::vector<std::string>{text}, options);
  EXPECT_TRUE(cut.report(0).truncated);
  EXPECT_EQ(cut.report(0).num_tokens, static_cast<std::size_t>(model().info().max_length.value));
}

TEST_F(EmbedOptionsTest, TruncationFromTheStartKeepsTheEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "cat ";
  EmbedOptions end;
  end.truncate = Truncate::kEnd;
  EmbedOptions start;
  start.truncate = Truncate::kStart;
  const std::vector<std::string> different_start = {"moon " + text, "the " + text};
  const Embeddings from_start = model().embed(different_start, start);
  EXPECT_TRUE(std::equal(from_start[0].begin(), from_start[0].end(), from_start[1].begin()));
  const Embeddings from_end = model().embed(different_start, end);
  EXPECT_FALSE(std::equal(from_end[0].begin(), from_end[0].end(), from_end[1].begin()));
}

TEST_F(EmbedOptionsTest, MaxLengthOutsideTheRange) {
  expect_refused({"a"}, {.max_length = 2}, ErrorCode::kInvalidArgument, "max_length: expected 3..");
  expect_refused({"a"}, {.max_length = 4096}, ErrorCode::kInvalidArgument, "max_length");
}

TEST_F(EmbedOptionsTest, InvalidUtf8NamesTextAndByte) {
  expect_refused({"fine", "bad \xFF"}, {}, ErrorCode::kInvalidArgument, "text 1");
}

TEST_F(EmbedOptionsTest, SkippedErrorsLeaveTheOtherTexts) {
  EmbedOptions options;
  options.skip_errors = true;
  const std::vector<std::string> texts = {"the cat sat", "bad \xFF", "the moon"};
  const Embeddings all = model().embed(texts, options);
  EXPECT_FALSE(all.report(0).error);
  ASSERT_TRUE(all.report(1).error);
  EXPECT_EQ(all.report(1).error->code, ErrorCode::kInvalidArgument);
  const Embeddings alone = model().embed(std::vector<std::string>{"the moon"});
  EXPECT_TRUE(std::equal(alone[0].begin(), alone[0].end(), all[2].begin()));
}

TEST_F(EmbedOptionsTest, IdsOutsideTheVocabulary) {
  for (const std::int32_t id : {-1, 200, 2147483647}) {
    const std::vector<std::vector<std::int32_t>> ids = {{2, id, 3}};
    EXPECT_THROW(model().embed_ids(ids), LatticeError);
  }
  EXPECT_THROW(model().embed_ids(std::vector<std::vector<std::int32_t>>{{}}), LatticeError);
}

// "" and " " are the special tokens alone: a vector, not a hang and not an error.
TEST_F(EmbedOptionsTest, EmptyTextsGiveTheVectorOfTheSpecialTokens) {
  const std::vector<std::string> texts = {"", " ", "\n\t"};
  const Embeddings all = model().embed(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(all.report(i).num_tokens, 2u);
    EXPECT_TRUE(std::equal(all[0].begin(), all[0].end(), all[i].begin()));
  }
  EXPECT_EQ(model().embed(std::vector<std::string>{}).size(), 0u);
}

TEST_F(EmbedOptionsTest, PoolingAndNormalizeOverrides) {
  const std::vector<std::string> texts = {"the cat sat"};
  const Embeddings raw = model().embed(texts, {.normalize = false});
  double norm = 0;
  for (const float v : raw[0]) norm += static_cast<double>(v) * static_cast<double>(v);
  EXPECT_GT(std::abs(norm - 1.0), 1e-3);
  const Embeddings cls = model().embed(texts, {.pooling = Pooling::kCls});
  const Embeddings mean = model().embed(texts);
  EXPECT_FALSE(std::equal(cls[0].begin(), cls[0].end(), mean[0].begin()));
}

}  // namespace
}  // namespace lattice
