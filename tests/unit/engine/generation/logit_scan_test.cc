#include "engine/generation/logit_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/generation/portable_exp.h"
#include "lattice/error.h"
#include "random_logits.h"

namespace lattice {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(LogitScan, ArgmaxTakesTheLowestOfEqualIds) {
  for (std::size_t size = 1; size < 70; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::vector<float> logits(size, -kInfinity);
      for (std::size_t i = at; i < size; i += 3) logits[i] = -2.5F;
      EXPECT_EQ(argmax(logits), static_cast<std::int32_t>(at)) << size;
      EXPECT_EQ(max_logit(logits), -2.5F);
    }
  }
}

TEST(LogitScan, EveryBadLogitIsFoundAndNamed) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
    for (std::size_t at = 0; at < 37; ++at) {
      std::vector<float> logits(37, 1);
      logits[at] = bad;
      try {
        argmax(logits);
        ADD_FAILURE() << "accepted " << bad << " at " << at;
      } catch (const LatticeError& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInternal);
        EXPECT_NE(std::string(error.what()).find("token " + std::to_string(at) + " is"),
                  std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_THROW(argmax(std::vector<float>(20, -kInfinity)), LatticeError);
  EXPECT_THROW(argmax({}), LatticeError);
}

TEST(LogitScan, KthLargestAgreesWithSorting) {
  for (const std::size_t size : {1U, 2U, 50U, 5000U}) {
    for (const float grid : {0.0F, 1.0F}) {
      std::vector<float> logits = random_logits(size, size, grid);
      for (const bool is_rising : {false, true}) {
        if (is_rising) std::ranges::sort(logits);
        std::vector<float> sorted = logits;
        std::ranges::sort(sorted, std::greater<>());
        for (const std::size_t k : {1U, 2U, 7U, 49U, 50U, 51U, 2000U, 4999U, 6000U}) {
          EXPECT_EQ(kth_largest(logits, k), sorted[std::min(k, size) - 1]) << size << " " << k;
        }
      }
    }
  }
}

TEST(LogitScan, LargestIdsAreAStableOrder) {
  const std::vector<float> logits = random_logits(3000, 5, 2);
  const std::vector<std::int32_t> order = sorted_ids(logits);
  for (const std::size_t n : {0U, 1U, 5U, 20U, 3000U, 9999U}) {
    std::vector<std::int32_t> expected = order;
    expected.resize(std::min(n, order.size()));
    EXPECT_EQ(largest_ids(logits, n), expected);
  }
}

TEST(PortableExp, IsTheExponentialFunction) {
  double worst = 0;
  for (double x = 0; x > -708; x -= 0.00317) {
    worst = std::max(worst, std::abs(portable_exp(x) / std::exp(x) - 1));
  }
  EXPECT_LT(worst, 4.5e-16);
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-0.0), 1);
  EXPECT_GT(portable_exp(-708), 0);
  EXPECT_EQ(portable_exp(-708.001), 0);
  EXPECT_EQ(portable_exp(-std::numeric_limits<double>::infinity()), 0);
  // Bits that every platform must give.
  EXPECT_EQ(portable_exp(-1), 0x1.78b56362cef38p-2);
}

}  // namespace
}  // namespace lattice
