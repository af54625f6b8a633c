// Whole tokenizers against the answers of the Hugging Face package (tools/tokenizer_diff).
#include <gtest/gtest.h>

#include <filesystem>

#include "io/json.h"
#include "lattice/tokenizer.h"
#include "support/json_writer.h"

namespace lattice {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden" / "tokenizer";

template <typename T>
std::vector<T> numbers(const Json& array) {
  std::vector<T> list;
  for (const Json& item : array.items()) list.push_back(static_cast<T>(*item.as_int()));
  return list;
}

EncodeOptions read_options(const Json& request) {
  EncodeOptions options;
  options.with_offsets = true;
  const auto is = [&](std::string_view key, std::string_view value) {
    const Json* json = request.find(key);
    return json != nullptr && json->as_string() == value;
  };
  if (const Json* special = request.find("special"))
    options.add_special_tokens = *special->as_bool();
  if (const Json* length = request.find("max_length")) options.max_length = *length->as_uint();
  if (is("side", "left")) options.side = TruncationSide::kLeft;
  if (is("strategy", "only_first")) options.strategy = TruncationStrategy::kOnlyFirst;
  if (is("strategy", "only_second")) options.strategy = TruncationStrategy::kOnlySecond;
  return options;
}

Encoding encode(const Tokenizer& tokenizer, const Json& request) {
  const std::string_view text = *request.find("text")->as_string();
  const Json* pair = request.find("pair");
  return pair == nullptr ? tokenizer.encode(text, read_options(request))
                         : tokenizer.encode_pair(text, *pair->as_string(), read_options(request));
}

void expect_decodes(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                    const Json& expected) {
  const Json* text = expected.find("text");
  if (text == nullptr) return;
  EXPECT_EQ(tokenizer.decode(ids), *text->as_string());
  EXPECT_EQ(tokenizer.decode(ids, false), *expected.find("all_text")->as_string());
}

void expect_case(const Tokenizer& tokenizer, const Json& request) {
  const Json& expected = *request.find("expected");
  if (expected.is_null()) {
    EXPECT_THROW(encode(tokenizer, request), LatticeError);
    return;
  }
  if (const Json* ids = request.find("ids")) {
    expect_decodes(tokenizer, numbers<std::int32_t>(*ids), expected);
    return;
  }
  const Encoding encoding = encode(tokenizer, request);
  EXPECT_EQ(encoding.ids, numbers<std::int32_t>(*expected.find("ids")));
  EXPECT_EQ(encoding.type_ids, numbers<std::int32_t>(*expected.find("type_ids")));
  EXPECT_EQ(encoding.special_tokens_mask, numbers<std::uint8_t>(*expected.find("mask")));
  std::vector<std::size_t> offsets;
  for (const auto& [begin, end] : encoding.offsets) {
    offsets.push_back(begin);
    offsets.push_back(end);
  }
  EXPECT_EQ(offsets, numbers<std::size_t>(*expected.find("offsets")));
  expect_decodes(tokenizer, encoding.ids, expected);
}

class GoldenTokenizers : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTokenizers, AnswersLikeThePackage) {
  const JsonDocument golden =
      value_or_throw(JsonDocument::parse_file(kFolder / (GetParam() + ".json")));
  const Tokenizer tokenizer =
      Tokenizer::from_json(write_json(*golden.root().find("tokenizer")), GetParam());
  const auto cases = golden.root().find("cases")->items();
  EXPECT_GE(cases.size(), 90u);
  for (const Json& request : cases) {
    SCOPED_TRACE(write_json(request).substr(0, 500));
    expect_case(tokenizer, request);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTokenizers,
                         ::testing::Values("added-tokens", "albert", "bert-cased", "bert-uncased",
                                           "byte-level-template", "clip", "gpt2", "llama-metaspace",
                                           "llama-normalizer", "prefixed-bpe", "prefixed-bpe-fused",
                                           "roberta", "roberta-prefix", "t5", "word-level",
                                           "wordpiece-short", "xlm-r"),
                         [](const auto& name) {
                           std::string out = name.param;
                           for (char& c : out) c = c == '-' ? '_' : c;
                           return out;
                         });

}  // namespace
}  // namespace lattice
