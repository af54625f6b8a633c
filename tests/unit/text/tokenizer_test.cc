#include "lattice/tokenizer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace lattice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A WordPiece tokenizer whose words are split at spaces, with BERT's template.
constexpr const char* kSmallBert = R"({
  "version": "1.0",
  "truncation": {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0},
  "padding": null,
  "added_tokens": [
    {"id": 0, "content": "[PAD]", "special": true, "normalized": false},
    {"id": 1, "content": "[UNK]", "special": true, "normalized": false},
    {"id": 2, "content": "[CLS]", "special": true, "normalized": false},
    {"id": 3, "content": "[SEP]", "special": true, "normalized": false},
    {"id": 10, "content": "<think>", "special": false, "normalized": false},
    {"id": 11, "content": "", "special": true, "normalized": false}],
  "normalizer": null,
  "pre_tokenizer": null,
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
             {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
             {"Sequence": {"id": "B", "type_id": 1}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                       "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "##b": 5, "##bc": 6,
              "##c": 7, "abcd": 8, "é": 9}}
})";

Tokenizer small_bert() { return Tokenizer::from_json(kSmallBert); }

ErrorCode code_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const LatticeError& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kInternal;
}

TEST(Tokenizer, WordPieceTakesTheLongestMatch) {
  const Tokenizer tokenizer = small_bert();
  EXPECT_THAT(tokenizer.encode("abc").ids, ElementsAre(2, 4, 6, 3));
  EXPECT_THAT(tokenizer.encode("abbc").ids, ElementsAre(2, 4, 5, 6, 3));
  EXPECT_THAT(tokenizer.encode("abcd").ids, ElementsAre(2, 8, 3));
  EXPECT_THAT(tokenizer.encode("abcx").ids, ElementsAre(2, 1, 3));
  EXPECT_THAT(tokenizer.encode(std::string(101, 'a')).ids, ElementsAre(2, 1, 3));
  EXPECT_THAT(tokenizer.encode("").ids, ElementsAre(2, 3));
}

TEST(Tokenizer, OffsetsCountBytesOfTheOriginal) {
  const Encoding encoding = small_bert().encode("é[SEP]abc", {.with_offsets = true});
  EXPECT_THAT(encoding.ids, ElementsAre(2, 9, 3, 4, 6, 3));
  using P = std::pair<std::size_t, std::size_t>;
  EXPECT_THAT(encoding.offsets, ElementsAre(P{0, 0}, P{0, 2}, P{2, 7}, P{7, 8}, P{8, 10}, P{0, 0}));
  EXPECT_THAT(encoding.special_tokens_mask, ElementsAre(1, 0, 0, 0, 0, 1));
}

TEST(Tokenizer, AddedButNotSpecialTokensSurviveDecoding) {
  const Tokenizer tokenizer = small_bert();
  const Encoding encoding = tokenizer.encode("abc<think>abc[SEP]");
  EXPECT_THAT(encoding.ids, ElementsAre(2, 4, 6, 10, 4, 6, 3, 3));
  EXPECT_EQ(tokenizer.decode(encoding.ids), "abc <think> abc");
  EXPECT_EQ(tokenizer.decode(encoding.ids, false), "[CLS] abc <think> abc [SEP] [SEP]");
}

TEST(Tokenizer, EmptyAddedTokenIsIgnored) {
  EXPECT_EQ(small_bert().token_to_id(""), std::nullopt);
  EXPECT_EQ(small_bert().vocab_size(), 11u);
}

TEST(Tokenizer, PairsGetTheirOwnTemplateAndTypeIds) {
  const Encoding encoding = small_bert().encode_pair("abc", "a");
  EXPECT_THAT(encoding.ids, ElementsAre(2, 4, 6, 3, 4, 3));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_EQ(small_bert().num_special_tokens(true), 3u);
}

TEST(Tokenizer, TruncationLeavesRoomForSpecialTokens) {
  const Tokenizer tokenizer = small_bert();
  Encoding encoding = tokenizer.encode("abbbc", {.max_length = 4});
  EXPECT_THAT(encoding.ids, ElementsAre(2, 4, 5, 3));
  EXPECT_TRUE(encoding.truncated);
  EXPECT_EQ(encoding.num_tokens_untruncated, 6u);
  encoding = tokenizer.encode("abbbc", {.max_length = 4, .side = TruncationSide::kLeft});
  EXPECT_THAT(encoding.ids, ElementsAre(2, 5, 6, 3));
  EXPECT_FALSE(tokenizer.encode("abbbc").truncated);
  encoding = tokenizer.encode("abbbc", {.use_file_truncation = true});
  EXPECT_THAT(encoding.ids, ElementsAre(2, 4, 5, 5, 3));
  EXPECT_EQ(code_of([&] { tokenizer.encode("a", {.max_length = 1}); }),
            ErrorCode::kInvalidArgument);
}

TEST(Tokenizer, InvalidUtf8IsAnErrorWithItsOffset) {
  std::string message;
  EXPECT_EQ(code_of([] { small_bert().encode("ab\xC3("); }, nullptr), ErrorCode::kInvalidArgument);
  code_of([] { small_bert().encode("ab\xC3("); }, &message);
  EXPECT_THAT(message, HasSubstr("byte 2"));
}

TEST(Tokenizer, DecodingAnUnknownIdIsAnError) {
  for (const std::int32_t id : {-1, 11, 1 << 30}) {
    EXPECT_EQ(code_of([&] { small_bert().decode(std::vector{id}); }), ErrorCode::kInvalidArgument);
  }
}

TEST(Tokenizer, DirectoryWithoutATokenizerSaysWhatWasLookedFor) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "lattice_no_tokenizer";
  std::filesystem::create_directories(directory);
  std::string message;
  EXPECT_EQ(code_of([&] { Tokenizer::from_directory(directory); }, &message), ErrorCode::kNotFound);
  EXPECT_THAT(message, HasSubstr("tokenizer.json"));
  EXPECT_THAT(message, HasSubstr("vocab.txt"));
  std::ofstream(directory / "spiece.model") << "x";
  code_of([&] { Tokenizer::from_directory(directory); }, &message);
  EXPECT_THAT(message, HasSubstr("spiece.model"));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace lattice
