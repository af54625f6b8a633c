#include "engine/pooling_config.h"

#include <gtest/gtest.h>

#include "lattice/error.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

PoolingConfig parse(const std::string& json) {
  const TempDir dir;
  return parse_pooling_config(dir.write("config.json", json), 8);
}

ErrorCode error_of(const std::string& json, const std::string& names) {
  try {
    parse(json);
  } catch (const LatticeError& error) {
    EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
    return error.code();
  }
  ADD_FAILURE() << json << " was accepted";
  return ErrorCode::kInternal;
}

// The newer file: only a mode, a dimension and include_prompt.
TEST(PoolingConfig, NewerPoolingFileGivesTheSameAsTheOldBooleans) {
  const auto newer =
      parse(R"({"embedding_dimension":8,"pooling_mode":"mean","include_prompt":true})");
  const auto old = parse(R"({"word_embedding_dimension":8,"pooling_mode_mean_tokens":true})");
  EXPECT_EQ(newer.modes, old.modes);
  EXPECT_EQ(newer.modes, std::vector<PoolingMode>{PoolingMode::kMean});
}

TEST(PoolingConfig, EveryModeInBothForms) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"cls", "pooling_mode_cls_token"},
      {"max", "pooling_mode_max_tokens"},
      {"mean", "pooling_mode_mean_tokens"},
      {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
      {"weightedmean", "pooling_mode_weightedmean_tokens"},
      {"lasttoken", "pooling_mode_lasttoken"}};
  for (const auto& [name, old_key] : names) {
    const auto newer = parse("{\"pooling_mode\":\"" + name + "\"}");
    EXPECT_EQ(pooling_name(newer.modes), name);
    EXPECT_EQ(parse("{\"" + old_key + "\":true}").modes, newer.modes);
  }
}

TEST(PoolingConfig, SeveralConcatenateInTheirOrder) {
  EXPECT_EQ(pooling_name(
                parse(R"({"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":true})").modes),
            "cls+mean");
  EXPECT_EQ(pooling_name(parse(R"({"pooling_mode":["mean","cls"]})").modes), "mean+cls");
}

TEST(PoolingConfig, NoneTrueIsMean) {
  EXPECT_EQ(pooling_name(parse(R"({"pooling_mode_cls_token":false})").modes), "mean");
}

TEST(PoolingConfig, UnknownModeIsRefusedByName) {
  EXPECT_EQ(error_of(R"({"pooling_mode":"median"})", "median"), ErrorCode::kUnsupported);
}

TEST(PoolingConfig, WrongTypesAndWidthsNameTheField) {
  EXPECT_EQ(error_of(R"({"pooling_mode":3})", "pooling_mode"), ErrorCode::kMalformed);
  EXPECT_EQ(error_of(R"({"embedding_dimension":9})", "embedding_dimension"), ErrorCode::kMalformed);
  EXPECT_EQ(error_of(R"({"include_prompt":"no"})", "include_prompt"), ErrorCode::kMalformed);
  EXPECT_EQ(error_of("[]", "object"), ErrorCode::kMalformed);
}

}  // namespace
}  // namespace lattice
