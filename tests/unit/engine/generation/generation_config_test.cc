// generation_config.json: what it means, where values come from, and what is refused by name.
#include "engine/generation/generation_config.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "support/temp_dir.h"

namespace lattice {
namespace {

constexpr const char* kFile = "generation_config.json";
using Ids = std::vector<std::int32_t>;

/// A directory with the file, and what else names end tokens.
struct Files {
  std::string generation_config;  ///< "": no file
  std::string config = "{}";
  std::optional<std::int32_t> tokenizer_eos = std::nullopt;
};

GenerationConfig load(const Files& files) {
  const TempDir dir;
  if (!files.generation_config.empty()) dir.write(kFile, files.generation_config);
  const auto config = value_or_throw(JsonDocument::parse(files.config, "config.json"));
  return load_generation_config(dir.path(), {config.root(), files.tokenizer_eos}, 1000);
}

void expect_refused(const Files& files, ErrorCode code, const std::string& expected) {
  try {
    load(files);
    ADD_FAILURE() << "accepted " << files.generation_config << files.config;
  } catch (const LatticeError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST(GenerationConfig, AbsentFileAndKeys) {
  for (const char* content : {"", "{}", R"({"temperature": null, "eos_token_id": null})"}) {
    const GenerationConfig config = load({content});
    EXPECT_TRUE(config.eos_token_ids.value.empty());
    EXPECT_EQ(config.eos_token_ids.source, "no file names one");
    EXPECT_FALSE(config.temperature || config.top_k || config.top_p || config.min_p ||
                 config.do_sample || config.repetition_penalty || config.max_length ||
                 config.max_new_tokens || config.pad_token_id || config.bos_token_id ||
                 config.stop_strings);
    EXPECT_EQ(default_sampling(config), SamplingOptions{});
  }
}

TEST(GenerationConfig, EveryKeyWithItsSource) {
  const GenerationConfig config =
      load({R"({"bos_token_id": 1, "eos_token_id": [7, 5, 7], "pad_token_id": 5, "do_sample": true,
           "temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0.05,
           "repetition_penalty": 1.05, "max_new_tokens": 2048, "max_length": 32768,
           "stop_strings": ["\n\n", "END"], "transformers_version": "5.24.0"})"});
  EXPECT_EQ(config.eos_token_ids.value, (Ids{5, 7}));
  EXPECT_EQ(config.eos_token_ids.source, "generation_config.json: eos_token_id");
  EXPECT_EQ(config.bos_token_id.value().value, 1);
  EXPECT_EQ(config.pad_token_id.value().value, 5);
  EXPECT_EQ(config.stop_strings.value().value, (std::vector<std::string>{"\n\n", "END"}));
  EXPECT_EQ(config.temperature.value().value, 0.6F);
  EXPECT_EQ(config.temperature.value().source, "generation_config.json: temperature");
  EXPECT_EQ(config.max_new_tokens.value().value, 2048);
  EXPECT_EQ(config.max_length.value().value, 32768);
  const SamplingOptions options = default_sampling(config);
  EXPECT_EQ(options.temperature, 0.6F);
  EXPECT_EQ(options.top_k, 20);
  EXPECT_EQ(options.top_p, 0.95F);
  EXPECT_EQ(options.min_p, 0.05F);
  EXPECT_EQ(options.repetition_penalty, 1.05F);
}

TEST(GenerationConfig, SamplingNeedsDoSample) {
  const SamplingOptions greedy = default_sampling(load({R"({"temperature": 0.6, "top_k": 20})"}));
  EXPECT_EQ(greedy, SamplingOptions{});
  const SamplingOptions sampled = default_sampling(load({R"({"do_sample": true})"}));
  EXPECT_EQ(sampled.temperature, 1);
  EXPECT_EQ(sampled.top_k, 50);
}

TEST(GenerationConfig, ATemperatureCloseToZeroCanBeSampledWith) {
  const SamplingOptions options =
      default_sampling(load({R"({"do_sample": true, "temperature": 1e-6})"}));
  EXPECT_EQ(options.temperature, SamplingOptions::kMinTemperature);
  validate(options, 1000);
}

TEST(GenerationConfig, EndTokensComeFromTheFirstFileThatNamesThem) {
  const std::string root = R"({"eos_token_id": 2, "text_config": {"eos_token_id": 3}})";
  const auto expect_eos = [](const Files& files, const Ids& ids, const std::string& source) {
    const GenerationConfig config = load(files);
    EXPECT_EQ(config.eos_token_ids.value, ids);
    EXPECT_EQ(config.eos_token_ids.source, source);
  };
  expect_eos({R"({"eos_token_id": 1})", root, 4}, {1}, "generation_config.json: eos_token_id");
  expect_eos({"{}", root, 4}, {2}, "config.json: eos_token_id");
  expect_eos({"", R"({"eos_token_id": null, "text_config": {"eos_token_id": [3, 9]}})", 4}, {3, 9},
             "config.json: text_config: eos_token_id");
  expect_eos({"", R"({"text_config": {}})", 4}, {4}, "tokenizer: eos_token");
  EXPECT_FALSE(load({R"({"pad_token_id": -1})"}).pad_token_id);
}

TEST(GenerationConfig, MalformedValuesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {R"({"eos_token_id": 1000})", "eos_token_id: expected an integer in 0..999, got 1000"},
      {R"({"eos_token_id": [1, -1]})", "eos_token_id[1]: expected a token id in 0..999"},
      {R"({"eos_token_id": [1000]})", "eos_token_id[0]: expected a token id in 0..999"},
      {R"({"eos_token_id": [1, "2"]})", "eos_token_id[1]: expected a token id in 0..999"},
      {R"({"eos_token_id": []})", "eos_token_id: expected a token id or a list"},
      {R"({"eos_token_id": "</s>"})", "eos_token_id: expected an integer, got string"},
      {R"({"bos_token_id": -1})", "bos_token_id"},
      {R"({"pad_token_id": 1000})", "pad_token_id"},
      {R"({"do_sample": 1})", "do_sample: expected true or false"},
      {R"({"temperature": -0.1})", "temperature: expected a number in 0.."},
      {R"({"temperature": "hot"})", "temperature: expected a finite number, got string"},
      {R"({"top_k": -1})", "top_k"},
      {R"({"top_k": 2.5})", "top_k"},
      {R"({"top_p": 1.01})", "top_p: expected a number in 0..1, got 1.01"},
      {R"({"min_p": -1})", "min_p"},
      {R"({"repetition_penalty": 0})", "repetition_penalty"},
      {R"({"max_new_tokens": 0})", "max_new_tokens"},
      {R"({"max_length": "20"})", "max_length"},
      {R"({"stop_strings": ["a", 1]})", "stop_strings: expected strings that are not empty"},
      {R"({"stop_strings": ""})", "stop_strings"},
      {R"({"top_p": 0.5, "top_p": 0.6})", "top_p occurs twice"},
      {R"([])", "expected a JSON object"},
      {R"({)", kFile}};
  for (const auto& [content, expected] : faults) {
    expect_refused({content}, ErrorCode::kMalformed, expected);
    expect_refused({content}, ErrorCode::kMalformed, kFile);
  }
  expect_refused({"", R"({"eos_token_id": 1000})"}, ErrorCode::kMalformed,
                 "config.json: eos_token_id: expected an integer in 0..999");
  expect_refused({"", R"({"text_config": {"eos_token_id": [-1]}})"}, ErrorCode::kMalformed,
                 "config.json: text_config: eos_token_id[0]");
}

TEST(GenerationConfig, WhatIsNotImplementedIsRefusedByName) {
  for (const char* member :
       {R"("num_beams": 4)", R"("penalty_alpha": 0.6)", R"("typical_p": 0.9)",
        R"("no_repeat_ngram_size": 3)", R"("suppress_tokens": [1, 2])", R"("min_new_tokens": 1)",
        R"("forced_bos_token_id": 0)", R"("forced_eos_token_id": 2)", R"("guidance_scale": 1.5)",
        R"("bad_words_ids": [[1]])", R"("watermarking_config": {"greenlist_ratio": 0.5})",
        R"("token_healing": true)", R"("num_return_sequences": 2)", R"("dola_layers": "low")"}) {
    const std::string key = std::string(member).substr(1, std::string(member).find('"', 1) - 1);
    expect_refused({"{" + std::string(member) + "}"}, ErrorCode::kUnsupported,
                   "generation_config.json: " + key + ": lattice does not implement ");
  }
}

TEST(GenerationConfig, NeutralAndInertKeysAreSilentAndUnknownOnesAreNot) {
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  load({R"({"num_beams": 1, "typical_p": 1.0, "no_repeat_ngram_size": 0, "suppress_tokens": [],
            "bad_words_ids": null, "token_healing": false, "guidance_scale": 1,
            "penalty_alpha": 0.0, "use_cache": true, "length_penalty": 2.0,
            "transformers_version": "4.57.0", "_from_model_config": true})"});
  EXPECT_EQ(warnings, std::vector<std::string>{});
  load({R"({"temprature": 0.5})"});
  set_log_sink(nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("generation_config.json: unknown key \"temprature\""),
            std::string::npos)
      << warnings[0];
}

}  // namespace
}  // namespace lattice
