#include "io/quantization_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json_text.h"
#include "support/safetensors_builder.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOurs = R"({"quant_method":"lattice","format":"q8_0","block_size":32})";

Result<StoredQuantization> read(const std::string& config) {
  const auto document = JsonDocument::parse(config, "config.json");
  if (!document) return tl::make_unexpected(document.error());
  ConfigReader reader(document->root(), "config.json");
  const StoredQuantization stored = read_quantization(reader);
  EXPECT_TRUE(reader.unread_keys().empty());
  if (auto status = reader.finish(); !status) return forward_error(status);
  return stored;
}

Result<StoredQuantization> read_member(const std::string& value) {
  return read(R"({"quantization_config":)" + value + "}");
}

TEST(QuantizationConfig, OursOrNone) {
  EXPECT_EQ(read("{}"), StoredQuantization::kNone);
  EXPECT_EQ(read_member("null"), StoredQuantization::kNone);
  EXPECT_EQ(read_member(kOurs), StoredQuantization::kQ8_0);
  EXPECT_EQ(q8_0_quantization_config(), kOurs);
}

TEST(QuantizationConfig, AnythingElseIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {R"({"quant_method":"gptq","bits":4})", "quant_method: \"gptq\""},
      {R"({"load_in_8bit":true})", "quant_method: \"\""},
      {R"({"quant_method":"lattice"})", "format: \"\""},
      {R"({"quant_method":"lattice","format":"q4_0","block_size":32})", "format: \"q4_0\""},
      {R"({"quant_method":"lattice","format":"q8_0"})", "block_size: 0"},
      {R"({"quant_method":"lattice","format":"q8_0","block_size":64})", "block_size: 64"},
      {R"({"quant_method":"lattice","format":"q8_0","block_size":32,"symmetric":false})",
       "symmetric"},
  };
  for (const auto& [value, what] : faults) {
    const auto stored = read_member(value);
    ASSERT_FALSE(stored) << value;
    EXPECT_EQ(stored.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(stored.error().message, HasSubstr("config.json: quantization_config"));
    EXPECT_THAT(stored.error().message, HasSubstr(what));
  }
}

TEST(QuantizationConfig, WrongTypesAreMalformed) {
  for (const char* value : {"[]", "\"q8_0\"", R"({"quant_method":3})",
                            R"({"quant_method":"lattice","format":"q8_0","block_size":"32"})"}) {
    const auto stored = read_member(value);
    ASSERT_FALSE(stored) << value;
    EXPECT_EQ(stored.error().code, ErrorCode::kMalformed) << value;
    EXPECT_THAT(stored.error().message, HasSubstr("quantization_config"));
  }
}

TEST(QuantizationConfig, FilesAndConfigMustAgree) {
  const TempDir dir;
  const std::string row(34, '\0');
  dir.write("model.safetensors", SafetensorsBuilder()
                                     .metadata("lattice.q8_0.w", "[1, 20]")
                                     .add("v", "U8", {1, 34}, row)
                                     .add("w", "U8", {1, 34}, row)
                                     .bytes());
  const auto quantized = WeightFiles::open(dir.path());
  ASSERT_TRUE(quantized) << quantized.error().message;
  EXPECT_TRUE(check_quantization(StoredQuantization::kQ8_0, *quantized, "config.json"));
  const auto undeclared = check_quantization(StoredQuantization::kNone, *quantized, "config.json");
  ASSERT_FALSE(undeclared);
  EXPECT_EQ(undeclared.error().code, ErrorCode::kMalformed);
  EXPECT_THAT(undeclared.error().message, HasSubstr("model.safetensors: tensor \"w\""));
  EXPECT_THAT(undeclared.error().message, HasSubstr("config.json"));

  const TempDir plain_dir;
  plain_dir.write("model.safetensors", SafetensorsBuilder().add("v", "U8", {34}, row).bytes());
  const auto plain = WeightFiles::open(plain_dir.path());
  EXPECT_TRUE(check_quantization(StoredQuantization::kNone, *plain, "config.json"));
  const auto empty = check_quantization(StoredQuantization::kQ8_0, *plain, "config.json");
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("model.safetensors"));
}

TEST(QuantizationConfig, AMemberIsAppendedAndNothingElseChanges) {
  EXPECT_EQ(append_json_member("{}", "k", "1"), "{\n  \"k\": 1\n}");
  EXPECT_EQ(append_json_member(" {\n  \"z\": 1e-12,\n  \"a\": {\"b\": 1.0}\n}\n", "k", "{\"x\":2}"),
            " {\n  \"z\": 1e-12,\n  \"a\": {\"b\": 1.0},\n  \"k\": {\"x\":2}\n}\n");
  EXPECT_EQ(append_json_member(R"({"a":"}"})", "k", "1"), "{\"a\":\"}\",\n  \"k\": 1\n}");
}

}  // namespace
}  // namespace lattice
