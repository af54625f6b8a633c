// inference_config.json: what it means, and what is refused by name.
#include "engine/inference_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/model_copy.h"

namespace lattice {
namespace {

constexpr const char* kFile = "inference_config.json";

TEST(InferenceConfig, AbsentFileAndKeysAreTheDefaults) {
  const TempDir dir;
  for (const char* content : {"", "{}", R"({"eos_token_id": null})"}) {
    if (*content != '\0') dir.write(kFile, content);
    const InferenceConfig config = load_inference_config(dir.path());
    EXPECT_FALSE(config.eos_token_id);
    EXPECT_FALSE(config.gpu_max_seq_len);
    EXPECT_EQ(config.rope_table_max_seq_len.value, 1024);
    EXPECT_EQ(config.rope_table_max_seq_len.source, "default");
  }
}

TEST(InferenceConfig, EveryKeyWithItsSource) {
  const TempDir dir;
  dir.write(kFile,
            R"({"eos_token_id": 7, "rope_table_max_seq_len": 4096, "gpu_max_seq_len": 8192})");
  const InferenceConfig config = load_inference_config(dir.path());
  ASSERT_TRUE(config.eos_token_id && config.gpu_max_seq_len);
  EXPECT_EQ(config.eos_token_id->value, 7);
  EXPECT_EQ(config.eos_token_id->source, "inference_config.json: eos_token_id");
  EXPECT_EQ(config.rope_table_max_seq_len.value, 4096);
  EXPECT_EQ(config.gpu_max_seq_len->value, 8192);
}

TEST(InferenceConfig, RefusesByName) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {R"({"rope_table_max_seq": 4096})", "unknown key \"rope_table_max_seq\""},
      {R"({"eos_token_id": "7"})", "eos_token_id: expected an integer, got string"},
      {R"({"eos_token_id": -1})", "eos_token_id: expected an integer in 0..2147483647, got -1"},
      {R"({"gpu_max_seq_len": 0})", "gpu_max_seq_len"},
      {R"({"rope_table_max_seq_len": 1048577})", "rope_table_max_seq_len"},
      {R"({"rope_table_max_seq_len": 1.5})", "rope_table_max_seq_len"},
      {R"({"eos_token_id": 1, "eos_token_id": 2})", "occurs twice"},
      {R"([])", "expected a JSON object"},
      {R"({"eos_token_id": 1)", kFile},
  };
  for (const auto& [content, expected] : faults) {
    const TempDir dir;
    dir.write(kFile, content);
    try {
      load_inference_config(dir.path());
      ADD_FAILURE() << content << " was accepted";
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMalformed) << content;
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(kFile), std::string::npos) << error.what();
    }
  }
}

std::vector<float> embed(const Model& model, const std::string& text) {
  const Embeddings out = model.embed(std::vector<std::string>{text});
  return {out[0].begin(), out[0].end()};
}

// A copy whose tokenizer adds nothing, so that the end token is the config's to add.
class InferenceConfigModel : public testing::Test {
 protected:
  InferenceConfigModel() : plain_("qwen3-base") {
    plain_.hide_json_member("tokenizer.json", "post_processor");
  }

  ModelCopy plain_;
};

TEST_F(InferenceConfigModel, EndTokenIsAppendedOnlyWithoutAPostProcessor) {
  const Model shipped = Model::from_directory(tiny_directory("qwen3-base"));
  const std::string text = "a small text";
  const std::vector<std::int32_t> with_end = shipped.tokenizer().encode(text).ids;
  plain_.write(kFile, fmt::format(R"({{"eos_token_id": {}}})", with_end.back()));
  const Model model = Model::from_directory(plain_.path());
  EXPECT_EQ(model.tokenizer().encode(text).ids.size() + 1, with_end.size());
  EXPECT_EQ(embed(model, text), embed(shipped, text));

  ModelCopy both("qwen3-base");
  both.write(kFile, R"({"eos_token_id": 3})");
  EXPECT_EQ(embed(Model::from_directory(both.path()), text), embed(shipped, text));
}

TEST_F(InferenceConfigModel, EndTokenStaysUnderTruncation) {
  const Model shipped = Model::from_directory(tiny_directory("qwen3-base"));
  const std::string text = "one two three four five six seven eight nine ten";
  const std::int32_t end = shipped.tokenizer().encode(text).ids.back();
  plain_.write(kFile, fmt::format(R"({{"eos_token_id": {}}})", end));
  const Model model = Model::from_directory(plain_.path());
  for (const Truncate side : {Truncate::kEnd, Truncate::kStart}) {
    EmbedOptions options;
    options.max_length = 5;
    options.truncate = side;
    const std::vector<std::string> texts{text};
    const Embeddings got = model.embed(texts, options);
    const Embeddings expected = shipped.embed(texts, options);
    EXPECT_TRUE(got.report(0).truncated);
    EXPECT_EQ(got.report(0).num_tokens, 5u);
    EXPECT_TRUE(std::equal(got[0].begin(), got[0].end(), expected[0].begin()));
  }
}

TEST_F(InferenceConfigModel, EndTokenOutsideTheVocabularyIsRefused) {
  plain_.write(kFile, R"({"eos_token_id": 2000000000})");
  try {
    Model::from_directory(plain_.path());
    ADD_FAILURE() << "accepted";
  } catch (const LatticeError& error) {
    EXPECT_NE(std::string(error.what()).find("eos_token_id"), std::string::npos) << error.what();
  }
}

TEST(InferenceConfigInfo, ASmallRopeTableGrowsAndChangesNothing) {
  const std::string text = "a text that is longer than the first table of positions is";
  const Model shipped = Model::from_directory(tiny_directory("qwen3-base"));
  ModelCopy copy("qwen3-base");
  copy.write(kFile, R"({"rope_table_max_seq_len": 2, "gpu_max_seq_len": 99})");
  const Model model = Model::from_directory(copy.path());
  EXPECT_EQ(embed(model, text), embed(shipped, text));
  ASSERT_TRUE(model.info().rope_table_max_seq_len && model.info().gpu_max_seq_len);
  EXPECT_EQ(model.info().rope_table_max_seq_len->value, 2);
  EXPECT_EQ(model.info().gpu_max_seq_len->value, 99);
  EXPECT_EQ(shipped.info().rope_table_max_seq_len->source, "default");
  const Model bert = Model::from_directory(tiny_directory("bert-mean"));
  EXPECT_FALSE(bert.info().rope_table_max_seq_len);
}

}  // namespace
}  // namespace lattice
