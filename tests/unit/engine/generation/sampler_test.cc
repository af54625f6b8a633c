#include "engine/generation/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "random_logits.h"

namespace lattice {
namespace {

constexpr double kAlmostOne = 1 - 0x1.0p-53;  // the largest number that RandomStream returns
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::int32_t> ids_of(const TokenDistribution& distribution) {
  std::vector<std::int32_t> ids;
  for (const WeightedToken& token : distribution.tokens) ids.push_back(token.id);
  return ids;
}

SamplingOptions with_temperature(float temperature) {
  SamplingOptions options;
  options.temperature = temperature;
  return options;
}

TEST(Sampler, GreedyIsTheArgmaxWhateverTheOtherFiltersSay) {
  SamplingOptions options;
  options.top_k = 3;
  options.top_p = 0.1F;
  options.min_p = 0.5F;
  Sampler sampler(options, 500);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> logits = random_logits(500, seed, 1);
    const auto largest = std::ranges::max_element(logits);
    EXPECT_EQ(sampler.sample(logits), largest - logits.begin());
    EXPECT_EQ(ids_of(sampler.distribution(logits)), (std::vector{sampler.sample(logits)}));
  }
}

TEST(Sampler, GreedyHonoursPenaltiesOnlyWhenAsked) {
  const std::vector<float> logits = {1.0F, 0.9F, -3.0F};
  Sampler plain(SamplingOptions{}, 3);
  plain.accept_prompt(std::vector<std::int32_t>{0});
  plain.accept(0);
  EXPECT_EQ(plain.sample(logits), 0);
  SamplingOptions options;
  options.repetition_penalty = 1.2F;
  Sampler penalized(options, 3);
  EXPECT_EQ(penalized.sample(logits), 0);
  penalized.accept_prompt(std::vector<std::int32_t>{0});
  EXPECT_EQ(penalized.sample(logits), 1);
  SamplingOptions bias;
  bias.logit_bias = {{2, 10.0F}, {0, -kInfinity}};
  EXPECT_EQ(Sampler(bias, 3).sample(logits), 2);
}

TEST(Sampler, PresenceAndFrequencyCountTheOutputOnly) {
  SamplingOptions options = with_temperature(1);
  options.presence_penalty = 0.5F;
  options.frequency_penalty = 0.25F;
  Sampler sampler(options, 3);
  sampler.accept_prompt(std::vector<std::int32_t>{0, 0, 1});
  for (const std::int32_t id : {1, 2, 2, 2}) sampler.accept(id);
  const TokenDistribution& distribution = sampler.distribution(std::vector<float>{1, 1, 1});
  EXPECT_EQ(distribution.tokens[0].logit, 1);
  EXPECT_EQ(distribution.tokens[1].logit, 1 - 0.25F - 0.5F);
  EXPECT_EQ(distribution.tokens[2].logit, 1 - 3 * 0.25F - 0.5F);
}

TEST(Sampler, TheSameSeedGivesTheSameTokensEverywhere) {
  SamplingOptions options = with_temperature(1.5F);
  options.seed = 42;
  Sampler sampler(options, 1000);
  const std::vector<float> logits = random_logits(1000, 7, 64);
  std::vector<std::int32_t> ids(8);
  for (std::int32_t& id : ids) id = sampler.sample(logits);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{931, 4, 4, 274, 931, 160, 722, 722}));
  RandomStream stream(42);
  EXPECT_EQ(stream.next_uniform(), 0x1.8d1844b632762p-1);  // computed in Python
}

TEST(Sampler, NumbersCloseToOneDrawATokenOfTheDistribution) {
  // Weights whose sum rounds, with a last token too unlikely to change it.
  TokenDistribution distribution;
  for (std::int32_t id = 0; id < 1000; ++id) distribution.tokens.push_back({id, 0, 0.1});
  distribution.tokens.push_back({1000, -50, 1e-22});
  for (const WeightedToken& token : distribution.tokens) distribution.total += token.weight;
  EXPECT_EQ(draw_token(distribution, kAlmostOne), 999);
  EXPECT_EQ(draw_token(distribution, 1.0), 999);  // never asked for; not the worst token either
  EXPECT_EQ(draw_token(distribution, 0), 0);
}

TEST(Sampler, FilteredAndImpossibleTokensAreNeverDrawn) {
  SamplingOptions options = with_temperature(1);
  options.top_p = 0.9F;
  std::vector<float> logits = random_logits(2000, 3);
  for (std::size_t i = 1000; i < 2000; ++i) logits[i] = -kInfinity;
  Sampler sampler(options, logits.size());
  const TokenDistribution& distribution = sampler.distribution(logits);
  const std::vector<std::int32_t> kept = ids_of(distribution);
  ASSERT_LT(kept.back(), 1000);
  for (const double uniform : {0.0, 0.25, 0.5, 0.999999, kAlmostOne}) {
    EXPECT_TRUE(std::ranges::binary_search(kept, draw_token(distribution, uniform)));
  }
  // Every token's interval is as long as its probability.
  double sum = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double middle = (sum + distribution.tokens[i].weight / 2) / distribution.total;
    EXPECT_EQ(draw_token(distribution, middle), kept[i]);
    sum += distribution.tokens[i].weight;
  }
}

// The fewest tokens, by sorting everything.
std::vector<std::int32_t> sorted_top_p(const std::vector<float>& logits, double top_p) {
  std::vector<std::int32_t> order = sorted_ids(logits);
  const auto logit = [&](std::int32_t id) { return logits[static_cast<std::size_t>(id)]; };
  long double total = 0;
  for (const float x : logits) total += std::exp(static_cast<long double>(x));
  long double sum = 0;
  std::size_t count = 0;
  while (count < order.size() && (count == 0 || sum < static_cast<long double>(top_p))) {
    sum += std::exp(static_cast<long double>(logit(order[count++]))) / total;
  }
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

TEST(Sampler, TopPKeepsTheFewestTokensAsSortingDoes) {
  for (const std::size_t size : {1U, 2U, 33U, 1000U, 20000U}) {
    for (const float grid : {0.0F, 0.5F, 32.0F}) {
      for (const float spread : {0.01F, 1.0F, 8.0F}) {
        std::vector<float> logits = random_logits(size, size, grid);
        for (float& logit : logits) logit *= spread;
        for (const float top_p : {0.0F, 0.05F, 0.37F, 0.83F, 0.95F, 0.9999F}) {
          SamplingOptions options = with_temperature(1);
          options.top_p = top_p;
          Sampler sampler(options, size);
          EXPECT_EQ(ids_of(sampler.distribution(logits)),
                    sorted_top_p(logits, static_cast<double>(top_p)))
              << size << " " << grid << " " << spread << " " << top_p;
        }
      }
    }
  }
}

TEST(Sampler, TiesAtTheCut) {
  const std::vector<float> logits = {1, 2, 1, 2, 1, 0};
  SamplingOptions top_k = with_temperature(1);
  top_k.top_k = 3;
  EXPECT_EQ(ids_of(Sampler(top_k, 6).distribution(logits)),
            (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  SamplingOptions top_p = with_temperature(1);
  top_p.top_p = 0.7F;  // two of 0.319 and one of 0.117
  EXPECT_EQ(ids_of(Sampler(top_p, 6).distribution(logits)), (std::vector<std::int32_t>{0, 1, 3}));
  const std::vector<float> equal(1000, 3.5F);
  top_p.top_p = 0.5F;
  EXPECT_EQ(Sampler(top_p, 1000).distribution(equal).tokens.size(), 500u);
  EXPECT_EQ(Sampler(top_p, 1000).distribution(equal).tokens.back().id, 499);
}

TEST(Sampler, FaultsAreErrors) {
  for (const float temperature : {0.0F, 1.0F}) {
    Sampler sampler(with_temperature(temperature), 3);
    EXPECT_THROW(sampler.sample(std::vector<float>{1, std::nanf(""), 2}), LatticeError);
    EXPECT_THROW(sampler.sample(std::vector<float>{1, kInfinity, 2}), LatticeError);
    EXPECT_THROW(sampler.sample(std::vector<float>(3, -kInfinity)), LatticeError);
    EXPECT_THROW(sampler.sample(std::vector<float>{1, 2}), LatticeError);
    EXPECT_THROW(sampler.accept(3), LatticeError);
    EXPECT_THROW(sampler.accept_prompt(std::vector<std::int32_t>{0, -1}), LatticeError);
  }
  EXPECT_THROW(Sampler(SamplingOptions{}, 0), LatticeError);
  EXPECT_THROW(Sampler(with_temperature(-1), 3), LatticeError);
  // Too large to be divided: an error, not a NaN.
  Sampler cold(with_temperature(SamplingOptions::kMinTemperature), 2);
  EXPECT_THROW(cold.sample(std::vector<float>{3e38F, 0}), LatticeError);
  EXPECT_EQ(cold.sample(std::vector<float>{1e4F, 0}), 0);
}

}  // namespace
}  // namespace lattice
