#include "engine/generation/logprobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "random_logits.h"

namespace lattice {
namespace {

TEST(Logprobs, AgreeWithALongDoubleSoftmax) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 1000U, 50001U}) {
    const std::vector<float> logits = random_logits(size, 3 * size + 1, 16);
    long double total = 0;
    for (const float logit : logits) total += std::exp(static_cast<long double>(logit));
    const auto expected = [&](std::int32_t id) {
      return static_cast<double>(static_cast<long double>(logits[static_cast<std::size_t>(id)]) -
                                 std::log(total));
    };
    const auto chosen = static_cast<std::int32_t>(size / 2);
    const TokenLogprobs result = compute_logprobs(logits, chosen, 20);
    EXPECT_EQ(result.chosen.id, chosen);
    EXPECT_NEAR(result.chosen.logprob, expected(chosen), 1e-12);
    ASSERT_EQ(result.top.size(), std::min<std::size_t>(size, 20));
    for (std::size_t i = 0; i < result.top.size(); ++i) {
      EXPECT_NEAR(result.top[i].logprob, expected(result.top[i].id), 1e-12);
      if (i == 0) continue;
      const TokenLogprob& before = result.top[i - 1];
      EXPECT_TRUE(before.logprob > result.top[i].logprob ||
                  (before.logprob == result.top[i].logprob && before.id < result.top[i].id));
    }
  }
}

TEST(Logprobs, HugeAndForbiddenLogits) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {3e38F, -infinity, -3e38F, 3e38F};
  const TokenLogprobs result = compute_logprobs(logits, 1, 2);
  EXPECT_EQ(result.chosen.logprob, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(result.top, (std::vector<TokenLogprob>{{0, -std::log(2.0)}, {3, -std::log(2.0)}}));
}

TEST(Logprobs, FaultsAreErrors) {
  const std::vector<float> logits = {1, 2};
  EXPECT_THROW(compute_logprobs(logits, 2, 0), LatticeError);
  EXPECT_THROW(compute_logprobs(logits, -1, 0), LatticeError);
  EXPECT_THROW(compute_logprobs(std::vector<float>{1, std::nanf("")}, 0, 1), LatticeError);
  EXPECT_TRUE(compute_logprobs(logits, 0, 0).top.empty());
}

}  // namespace
}  // namespace lattice
