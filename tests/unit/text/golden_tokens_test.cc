#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/json.h"
#include "lattice/tokenizer.h"

namespace lattice {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(LATTICE_TEST_DATA_DIR) / "golden";

JsonDocument parse_file(const std::filesystem::path& path) {
  return value_or_throw(JsonDocument::parse_file(path));
}

std::vector<std::int32_t> ids_of(const Json& array) {
  std::vector<std::int32_t> ids;
  for (const Json& item : array.items()) ids.push_back(static_cast<std::int32_t>(*item.as_int()));
  return ids;
}

// Compares one case of a golden.json with what the tokenizer makes of `text`.
void expect_case(const Tokenizer& tokenizer, const Json& expected, std::string_view text,
                 std::size_t max_length) {
  const Json* pair = expected.find("pair");
  const EncodeOptions options = {.max_length = max_length};
  const Encoding encoding = pair == nullptr
                                ? tokenizer.encode(text, options)
                                : tokenizer.encode_pair(text, *pair->as_string(), options);
  EXPECT_EQ(encoding.ids, ids_of(*expected.find("ids"))) << text;
  if (const Json* type_ids = expected.find("type_ids")) {
    EXPECT_EQ(encoding.type_ids, ids_of(*type_ids)) << text;
  }
  EXPECT_EQ(encoding.num_tokens_untruncated, *expected.find("tokens")->as_uint()) << text;
  EXPECT_EQ(encoding.truncated, *expected.find("truncated")->as_bool()) << text;
}

std::size_t max_length_of(const Json& golden) {
  return static_cast<std::size_t>(*golden.find("max_seq_length")->as_uint());
}

// Every tiny model directory whose golden does not involve a prompt.
TEST(GoldenTokens, TinyModels) {
  const JsonDocument manifest = parse_file(kGolden / "tiny" / "manifest.json");
  std::size_t num_cases = 0;
  for (const Json& variant : manifest.root().find("variants")->items()) {
    const std::filesystem::path directory = kGolden / "tiny" / *variant.find("dir")->as_string();
    const std::string golden_path(*variant.find("golden")->as_string());
    const JsonDocument golden = parse_file(kGolden / "tiny" / (golden_path + ".json"));
    if (std::string_view(golden_path).find("prompt") != std::string_view::npos) continue;
    SCOPED_TRACE(*variant.find("name")->as_string());
    TokenizerOptions options;
    const auto settings_path = directory / "sentence_bert_config.json";
    if (std::filesystem::exists(settings_path)) {
      const JsonDocument settings = parse_file(settings_path);
      const Json* lowercase = settings.root().find("do_lower_case");
      options.lowercase = lowercase != nullptr && lowercase->as_bool() == true;
    }
    const Tokenizer tokenizer = Tokenizer::from_directory(directory, options);
    for (const Json& expected : golden.root().find("cases")->items()) {
      if (expected.find("prompt_tokens") != nullptr) continue;
      expect_case(tokenizer, expected, *expected.find("text")->as_string(),
                  max_length_of(golden.root()));
      ++num_cases;
    }
  }
  EXPECT_GT(num_cases, 500u);
}

TEST(GoldenTokens, AllMiniLm) {
  const auto directory = std::filesystem::path(LATTICE_MODELS_DIR) / "all-MiniLM-L6-v2";
  const Tokenizer tokenizer = Tokenizer::from_directory(directory);
  const JsonDocument golden = parse_file(kGolden / "real" / "all-MiniLM-L6-v2" / "golden.json");
  std::ifstream texts(kGolden / "texts.jsonl", std::ios::binary);
  for (const Json& expected : golden.root().find("cases")->items()) {
    std::string line;
    ASSERT_TRUE(std::getline(texts, line));
    const JsonDocument text = value_or_throw(JsonDocument::parse(line, "texts.jsonl"));
    expect_case(tokenizer, expected, *text.root().find("text")->as_string(),
                max_length_of(golden.root()));
  }
}

}  // namespace
}  // namespace lattice
