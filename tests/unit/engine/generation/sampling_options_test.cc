#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/generation/sampler.h"

namespace lattice {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expect_refused(const SamplingOptions& options, const std::string& expected) {
  try {
    validate(options, 10);
    ADD_FAILURE() << "accepted: " << expected;
  } catch (const LatticeError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST(SamplingOptions, DefaultsAndLimitsAreValid) {
  validate(SamplingOptions{}, 1);
  SamplingOptions options;
  options.temperature = SamplingOptions::kMinTemperature;
  options.top_k = std::numeric_limits<int>::max();
  options.top_p = 0;
  options.min_p = 1;
  options.repetition_penalty = 0.1F;
  options.presence_penalty = -2;
  options.frequency_penalty = 2;
  options.logit_bias = {{9, 100.0F}, {0, -kInfinity}};
  validate(options, 10);
}

TEST(SamplingOptions, RefusedByName) {
  const auto refuse = [](const std::string& name, float SamplingOptions::* member,
                         std::initializer_list<float> values) {
    for (const float value : values) {
      SamplingOptions options;
      options.*member = value;
      expect_refused(options, "[sampling] " + name + ": expected");
    }
  };
  refuse("temperature", &SamplingOptions::temperature, {-0.5F, 1e-5F, kNan, kInfinity});
  refuse("top_p", &SamplingOptions::top_p, {-0.01F, 1.01F, kNan});
  refuse("min_p", &SamplingOptions::min_p, {-0.01F, 1.01F, kNan});
  refuse("repetition_penalty", &SamplingOptions::repetition_penalty, {0, -1, kNan, kInfinity});
  refuse("presence_penalty", &SamplingOptions::presence_penalty, {-2.1F, 2.1F, kNan});
  refuse("frequency_penalty", &SamplingOptions::frequency_penalty, {-2.1F, 2.1F, kNan});
  SamplingOptions options;
  options.top_k = -1;
  expect_refused(options, "[sampling] top_k: expected a number of tokens, or 0, got -1");
}

TEST(SamplingOptions, BiasIsCheckedAgainstTheVocabulary) {
  SamplingOptions options;
  for (const std::int32_t id : {-1, 10}) {
    options.logit_bias = {{id, 1.0F}};
    expect_refused(options, "logit_bias: expected token ids below 10, got " + std::to_string(id));
  }
  options.logit_bias = {{3, 1.0F}, {4, 1.0F}, {3, 2.0F}};
  expect_refused(options, "logit_bias: token 3 occurs twice");
  for (const float bias : {kNan, kInfinity}) {
    options.logit_bias = {{3, bias}};
    expect_refused(options, "logit_bias: expected finite numbers");
  }
}

}  // namespace
}  // namespace lattice
