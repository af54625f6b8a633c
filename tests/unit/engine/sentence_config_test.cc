#include "engine/sentence_config.h"

#include <gtest/gtest.h>

#include "lattice/error.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

TEST(SentencePrompts, KeepsPromptsByteForByteInFileOrder) {
  const TempDir dir;
  dir.write("config_sentence_transformers.json",
            R"({"prompts":{"query":"Instruct: x\nQuery:","document":""},"default_prompt_name":null,
                "similarity_fn_name":"dot","__version__":{"pytorch":"2"}})");
  const SentencePrompts prompts = load_sentence_prompts(dir.path());
  ASSERT_EQ(prompts.prompts.size(), 2u);
  EXPECT_EQ(prompts.find("query"), "Instruct: x\nQuery:");
  EXPECT_EQ(prompts.find("document"), "");
  EXPECT_FALSE(prompts.default_prompt_name);
  EXPECT_EQ(prompts.similarity, "dot");
}

TEST(SentencePrompts, UnknownNameListsTheKnownOnes) {
  const TempDir dir;
  dir.write("config_sentence_transformers.json", R"({"prompts":{"query":"q","passage":"p"}})");
  const SentencePrompts prompts = load_sentence_prompts(dir.path());
  try {
    prompts.find("question");
    ADD_FAILURE();
  } catch (const LatticeError& error) {
    EXPECT_NE(std::string(error.what()).find("query, passage"), std::string::npos);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
}

TEST(SentencePrompts, DefaultNameMustExist) {
  const TempDir dir;
  dir.write("config_sentence_transformers.json",
            R"({"prompts":{"query":"q"},"default_prompt_name":"nope"})");
  EXPECT_THROW(load_sentence_prompts(dir.path()), LatticeError);
}

TEST(SentencePrompts, AbsentFileIsNoPrompts) {
  const TempDir dir;
  EXPECT_TRUE(load_sentence_prompts(dir.path()).prompts.empty());
}

TEST(TransformerModuleConfig, ReadsTheOlderFileNames) {
  const TempDir dir;
  dir.write("sentence_roberta_config.json", R"({"max_seq_length":128,"do_lower_case":true})");
  const TransformerModuleConfig config = load_transformer_module_config(dir.path());
  EXPECT_EQ(config.max_seq_length, 128);
  EXPECT_TRUE(config.do_lower_case);
  EXPECT_EQ(config.source, "sentence_roberta_config.json");
}

TEST(TransformerModuleConfig, RefusesALengthThatIsNone) {
  const TempDir dir;
  dir.write("sentence_bert_config.json", R"({"max_seq_length":0})");
  EXPECT_THROW(load_transformer_module_config(dir.path()), LatticeError);
}

}  // namespace
}  // namespace lattice
