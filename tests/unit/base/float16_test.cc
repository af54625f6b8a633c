#include "base/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lattice {
namespace {

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(to_bfloat16(1.0f).bits, 0x3F80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F808000u)).bits, 0x3F80);  // tie, even below
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F818000u)).bits, 0x3F82);  // tie, even above
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F808001u)).bits, 0x3F81);
}

TEST(BFloat16, KeepsNanAndInfinity) {
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7F800001u)))));
  EXPECT_EQ(to_float(to_bfloat16(std::numeric_limits<float>::infinity())),
            std::numeric_limits<float>::infinity());
}

TEST(BFloat16, EveryValueSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const BFloat16 value{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(value);
    if (std::isnan(wide)) continue;
    ASSERT_EQ(to_bfloat16(wide).bits, bits);
  }
}

TEST(Float16, MatchesTheDefinitionForEveryValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(Float16{static_cast<std::uint16_t>(bits)});
    const int exponent = static_cast<int>((bits >> 10) & 31u);
    const double mantissa = bits & 1023u;
    const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), mantissa != 0);
      EXPECT_EQ(std::isinf(value), mantissa == 0);
      continue;
    }
    const double expected =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0 + mantissa, exponent - 25);
    ASSERT_EQ(static_cast<double>(value), sign * expected) << bits;
  }
}

TEST(Float16, EveryValueSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_float16(value))));
    } else {
      EXPECT_EQ(to_float16(value).bits, half.bits);
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = to_float(Float16{static_cast<std::uint16_t>(bits)});
    const double high = to_float(Float16{static_cast<std::uint16_t>(bits + 1)});
    const auto middle = static_cast<float>((low + high) / 2);  // exact: two bits more
    EXPECT_EQ(to_float16(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(to_float16(std::nextafter(middle, 0.0f)).bits, bits);
    EXPECT_EQ(to_float16(std::nextafter(middle, 1e9f)).bits, bits + 1);
  }
  EXPECT_EQ(to_float16(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(to_float16(65520.0f).bits, 0x7C00);
  EXPECT_EQ(to_float16(-1e30f).bits, 0xFC00);
}

}  // namespace
}  // namespace lattice
