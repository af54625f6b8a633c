#include "base/checked_math.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lattice {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(CheckedMath, EveryPairOfEightBitNumbersAgreesWithWiderArithmetic) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const auto sum = checked_add(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
      const auto product = checked_mul(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
      EXPECT_EQ(sum.has_value(), a + b < 256);
      EXPECT_EQ(product.has_value(), a * b < 256);
      if (sum) EXPECT_EQ(*sum, a + b);
      if (product) EXPECT_EQ(*product, a * b);
    }
  }
}

TEST(CheckedMath, LimitsOfSixtyFourBits) {
  EXPECT_EQ(checked_add(kMax - 1, std::uint64_t{1}), kMax);
  EXPECT_FALSE(checked_add(kMax, std::uint64_t{1}));
  EXPECT_EQ(checked_mul(kMax, std::uint64_t{1}), kMax);
  EXPECT_EQ(checked_mul(kMax, std::uint64_t{0}), 0u);
  EXPECT_EQ(checked_mul(std::uint64_t{0}, kMax), 0u);
  EXPECT_FALSE(checked_mul(std::uint64_t{1} << 32, std::uint64_t{1} << 32));
}

}  // namespace
}  // namespace lattice
