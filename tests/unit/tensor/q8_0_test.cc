#include "tensor/q8_0.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace lattice {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Q8, TheLargestMagnitudeBecomes127) {
  const float values[] = {0.5f, -2.0f, 1.0f, 0.0f};
  const Q8Block x = quantize_block(values);
  EXPECT_EQ(x.scale, 2.0f / 127.0f);
  EXPECT_EQ(x.quants[1], -127);
  EXPECT_EQ(x.quants[2], 64);  // 63.5, to even
  EXPECT_EQ(x.quants[3], 0);
  EXPECT_EQ(x.quants[4], 0);
  const Q8WeightBlock w = quantize_weight_block(values);
  EXPECT_EQ(w.quants[1], -127);
}

TEST(Q8, ErrorsStayWithinHalfAStep) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values(kQ8BlockSize);
    for (float& value : values) value = normal(random) * std::exp2(static_cast<float>(round % 20));
    const Q8Block x = quantize_block(values);
    const Q8WeightBlock w = quantize_weight_block(values);
    const float w_scale = to_float(w.scale);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], x.scale * static_cast<float>(x.quants[i]), 0.5001f * x.scale);
      EXPECT_NEAR(values[i], w_scale * static_cast<float>(w.quants[i]), 0.57f * w_scale);
      EXPECT_GE(x.quants[i], -127);
      EXPECT_GE(w.quants[i], -127);
    }
  }
}

TEST(Q8, QuantizingAgainChangesNothing) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values(kQ8BlockSize);
    for (float& value : values) value = normal(random);
    const Q8WeightBlock once = quantize_weight_block(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = to_float(once.scale) * static_cast<float>(once.quants[i]);
    }
    const Q8WeightBlock twice = quantize_weight_block(values);
    EXPECT_EQ(once.scale.bits, twice.scale.bits);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(once.quants[i], twice.quants[i]);
  }
}

TEST(Q8, ZerosTinyAndHugeValues) {
  const float zeros[] = {0.0f, -0.0f};
  EXPECT_EQ(quantize_block(zeros).scale, 0.0f);
  EXPECT_EQ(to_float(quantize_weight_block(zeros).scale), 0.0f);
  const float tiny[] = {std::numeric_limits<float>::denorm_min(), 0.0f};
  EXPECT_EQ(quantize_block(tiny).quants[0], 0);
  const float huge[] = {std::numeric_limits<float>::max(), 1.0f};
  EXPECT_EQ(quantize_block(huge).quants[0], 127);
  EXPECT_TRUE(std::isinf(to_float(quantize_weight_block(huge).scale)));  // beyond f16: not silent
}

TEST(Q8, WhatIsNotFiniteSpoilsItsBlock) {
  for (const float bad : {kInfinity, -kInfinity, kNan}) {
    const float values[] = {1.0f, bad, 2.0f};
    EXPECT_TRUE(std::isnan(quantize_block(values).scale));
    EXPECT_TRUE(std::isnan(to_float(quantize_weight_block(values).scale)));
  }
}

}  // namespace
}  // namespace lattice
