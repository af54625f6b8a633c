// One test for each fault that users met in other tokenizers. Expected ids are those of the Hugging
// Face `tokenizers` package 0.23.3.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lattice/tokenizer.h"
#include "support/small_tokenizers.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

using ::testing::ElementsAre;

const Tokenizer& minilm() {
  static const Tokenizer tokenizer =
      Tokenizer::from_directory(std::filesystem::path(LATTICE_MODELS_DIR) / "all-MiniLM-L6-v2");
  return tokenizer;
}

// The head of Qwen3's tokenizer.json, with the real ids of a few tokens: every byte, and what the
// texts below need.
std::string qwen_json() {
  std::string vocab;
  std::string merges;
  // Qwen numbers the bytes in the order of the byte-level alphabet: printable ones first.
  std::vector<std::string> printable, others;
  for (const char16_t character : kByteLevelAlphabet) {
    append_utf8((character < 0x100 ? printable : others).emplace_back(), character);
  }
  printable.insert(printable.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < printable.size(); ++i) {
    const std::string quote = printable[i] == "\"" || printable[i] == "\\" ? "\\" : "";
    vocab += fmt::format("\"{}{}\":{},", quote, printable[i], i);
  }
  const std::tuple<const char*, const char*, int> rules[] = {
      {"Ġ", "Ġ", 256},    {"Ġ", "a", 264}, {"Ġ", "b", 293}, {"e", "s", 288},   {"t", "es", 700},
      {"tes", "t", 1944}, {"Ã", "©", 963}, {"c", "a", 924}, {"f", "Ã©", 58858}};
  for (const auto& [left, right, id] : rules) {
    vocab += fmt::format("\"{}{}\":{},", left, right, id);
    merges += fmt::format("{}[\"{}\",\"{}\"]", merges.empty() ? "" : ",", left, right);
  }
  vocab += R"("<|endoftext|>":151643,"<|im_start|>":151644,"<|im_end|>":151645,)"
           R"("<think>":151667,"</think>":151668)";
  return fmt::format(R"({{"version":"1.0","added_tokens":[
    {{"id":151643,"content":"<|endoftext|>","special":true,"normalized":false}},
    {{"id":151644,"content":"<|im_start|>","special":true,"normalized":false}},
    {{"id":151645,"content":"<|im_end|>","special":true,"normalized":false}},
    {{"id":151667,"content":"<think>","special":false,"normalized":false}},
    {{"id":151668,"content":"</think>","special":false,"normalized":false}}],
  "normalizer":{{"type":"NFC"}},
  "pre_tokenizer":{{"type":"Sequence","pretokenizers":[
    {{"type":"Split","pattern":{{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{{L}}\\p{{N}}]?\\p{{L}}+|\\p{{N}}| ?[^\\s\\p{{L}}\\p{{N}}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
      "behavior":"Isolated","invert":false}},
    {{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}}]}},
  "post_processor":{{"type":"Sequence","processors":[
    {{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}},
    {{"type":"TemplateProcessing",
      "single":[{{"Sequence":{{"id":"A","type_id":0}}}},
                {{"SpecialToken":{{"id":"<|endoftext|>","type_id":0}}}}],
      "pair":[{{"Sequence":{{"id":"A","type_id":0}}}},{{"Sequence":{{"id":"B","type_id":0}}}},
              {{"SpecialToken":{{"id":"<|endoftext|>","type_id":0}}}}],
      "special_tokens":{{"<|endoftext|>":{{"id":"<|endoftext|>","ids":[151643],
                                         "tokens":["<|endoftext|>"]}}}}}}]}},
  "decoder":{{"type":"ByteLevel"}},
  "model":{{"type":"BPE","vocab":{{{}}},"merges":[{}]}}}})",
                     vocab, merges);
}

Tokenizer qwen() { return Tokenizer::from_json(qwen_json(), "qwen"); }

TEST(TokenizerFieldBugs, QwenEmbeddingTextsEndWithEndOfText) {
  EXPECT_THAT(qwen().encode("test").ids, ElementsAre(1944, 151643));
}

TEST(TokenizerFieldBugs, AppendedTokenComesFromTheTemplateNotFromEosToken) {
  const TempDir directory;
  std::ofstream(directory.path() / "tokenizer.json") << qwen_json();
  std::ofstream(directory.path() / "tokenizer_config.json")
      << R"({"eos_token":"<|im_end|>","pad_token":"<|endoftext|>","model_max_length":131072})";
  const Tokenizer tokenizer = Tokenizer::from_directory(directory.path());
  EXPECT_EQ(tokenizer.special_token_ids().eos, 151645);
  EXPECT_THAT(tokenizer.encode("test").ids, ElementsAre(1944, 151643));
}

TEST(TokenizerFieldBugs, TruncationKeepsTheAppendedToken) {
  const Encoding encoding = qwen().encode("test test a", {.max_length = 2});
  EXPECT_THAT(encoding.ids, ElementsAre(1944, 151643));
  EXPECT_TRUE(encoding.truncated);
}

TEST(TokenizerFieldBugs, TruncationOfTokenizerJsonIsNotInherited) {
  std::string text = "word";
  for (int i = 1; i < 200; ++i) text += " word";
  EXPECT_EQ(minilm().file_truncation_length(), 128u);
  EXPECT_EQ(minilm().encode(text).ids.size(), 202u);
  EXPECT_EQ(minilm().encode(text, {.max_length = 256}).ids.size(), 202u);
  const Encoding cut = minilm().encode(text, {.use_file_truncation = true});
  EXPECT_EQ(cut.ids.size(), 128u);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.num_tokens_untruncated, 202u);
}

TEST(TokenizerFieldBugs, AccentedRomanisedNamesSplitLikeHuggingFace) {
  EXPECT_THAT(minilm().encode("Hyūga").ids, ElementsAre(101, 1044, 10513, 3654, 102));
  EXPECT_THAT(minilm().encode("Shirō").ids, ElementsAre(101, 11895, 3217, 102));
}

TEST(TokenizerFieldBugs, NewlineTabAndCarriageReturnAreSpaces) {
  EXPECT_THAT(minilm().encode("one\nline").ids, ElementsAre(101, 2028, 2240, 102));
  EXPECT_THAT(minilm().encode("note\tbook").ids, ElementsAre(101, 3602, 2338, 102));
  EXPECT_THAT(minilm().encode("cr\rlf").ids, ElementsAre(101, 13675, 1048, 2546, 102));
}

TEST(TokenizerFieldBugs, WhitespaceRunsLeaveTheirLastSpaceToTheNextWord) {
  EXPECT_THAT(qwen().encode("a   b").ids, ElementsAre(64, 256, 293, 151643));
  EXPECT_THAT(qwen().encode(" a").ids, ElementsAre(264, 151643));
  EXPECT_THAT(qwen().encode("  a  ").ids, ElementsAre(220, 264, 256, 151643));
}

TEST(TokenizerFieldBugs, DecomposedTextIsComposedWhereTheNormalizerIsNfc) {
  EXPECT_THAT(qwen().encode("cafe\u0301").ids, ElementsAre(924, 58858, 151643));
  EXPECT_EQ(qwen().encode("cafe\u0301").ids, qwen().encode("café").ids);
  EXPECT_EQ(minilm().encode("cafe\u0301").ids, minilm().encode("café").ids);
}

TEST(TokenizerFieldBugs, MixedScriptsOnAnUncasedVocabulary) {
  EXPECT_THAT(minilm().encode("Straße €5 🙂 한국어").ids,
              ElementsAre(101, 2358, 27807, 1574, 2629, 100, 1469, 30006, 30021, 29991, 30014,
                          30020, 29999, 30008, 102));
  EXPECT_THAT(minilm().encode("Café déjà vu — 123 😊").ids,
              ElementsAre(101, 7668, 2139, 3900, 24728, 1517, 13138, 100, 102));
}

TEST(TokenizerFieldBugs, FullWidthFormsOnAUnigramVocabulary) {
  const Tokenizer tokenizer = Tokenizer::from_json(small_unigram().json);
  EXPECT_EQ(tokenizer.encode("ａｂ").ids, tokenizer.encode("ab").ids);
}

TEST(TokenizerFieldBugs, BertPairsHaveTypeIdsZeroThenOne) {
  const Encoding encoding = minilm().encode_pair("red apple", "llama");
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 1, 1, 1));
  EXPECT_EQ(encoding.ids[0], 101);
  EXPECT_EQ(encoding.ids[3], 102);
  EXPECT_EQ(encoding.ids.back(), 102);
}

TEST(TokenizerFieldBugs, XlmRobertaPairsAreSeparatedByTwoEndTokens) {
  const Tokenizer tokenizer = Tokenizer::from_json(small_unigram().json);  // RobertaProcessing
  EXPECT_THAT(tokenizer.encode_pair("a", "the").ids, ElementsAre(0, 8, 1, 1, 11, 1));
  EXPECT_THAT(tokenizer.encode_pair("a", "the").type_ids, ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(TokenizerFieldBugs, NothingIsPutBetweenPairsWithoutASeparator) {
  const Tokenizer tokenizer = Tokenizer::from_json(small_byte_level_bpe().json);
  auto expected = tokenizer.encode("ping").ids;
  const auto second = tokenizer.encode("pong").ids;
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(tokenizer.encode_pair("ping", "pong").ids, expected);
}

TEST(TokenizerFieldBugs, TrailingMetaspaceSurvives) {
  const Tokenizer tokenizer = Tokenizer::from_json(small_unigram().json);
  EXPECT_THAT(tokenizer.encode("a ").ids, ElementsAre(0, 8, 4, 1));
}

TEST(TokenizerFieldBugs, ThinkTagsAreNotDroppedWithTheSpecialTokens) {
  const Encoding encoding = qwen().encode("<think>a</think>");
  EXPECT_THAT(encoding.ids, ElementsAre(151667, 64, 151668, 151643));
  EXPECT_EQ(qwen().decode(encoding.ids), "<think>a</think>");
}

TEST(TokenizerFieldBugs, OneLongUnbrokenWordIsTruncatedLikeAnyText) {
  const std::string word(100000, 'a');
  EXPECT_EQ(qwen().encode(word, {.max_length = 16}).ids.size(), 16u);
  EXPECT_EQ(qwen().encode(word, {.max_length = 16}).num_tokens_untruncated, 100001u);
  EXPECT_THAT(minilm().encode(word, {.max_length = 16}).ids, ElementsAre(101, 100, 102));
}

}  // namespace
}  // namespace lattice
