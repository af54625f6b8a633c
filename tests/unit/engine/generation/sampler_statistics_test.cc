// 100,000 draws against the probabilities that the options ask for, by Pearson's chi-square test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/generation/sampler.h"
#include "random_logits.h"

namespace lattice {
namespace {

constexpr int kNumDraws = 100'000;
const std::vector<float> kLogits = {1.5F, -0.25F, 3.0F, 2.75F, 0.0F,
                                    1.5F, -4.0F,  2.0F, 0.5F,  2.25F};

// The definitions, in the plainest way: sort, cut, renormalize.
std::vector<double> expected_probabilities(const SamplingOptions& options) {
  const std::vector<std::int32_t> order = sorted_ids(kLogits);
  std::vector<double> p(kLogits.size());
  const auto at = [&](std::size_t rank) -> double& {
    return p[static_cast<std::size_t>(order[rank])];
  };
  const auto temperature = static_cast<double>(options.temperature);
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i] = std::exp(static_cast<double>(kLogits[i]) / temperature);
  }
  const auto normalize = [&] {
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= total;
  };
  if (options.top_k > 0) {
    const double last = at(static_cast<std::size_t>(options.top_k) - 1);
    for (double& value : p) value = value < last ? 0 : value;
  }
  normalize();
  double sum = 0;
  for (std::size_t rank = 0; rank < p.size(); ++rank) {
    const bool enough = sum >= static_cast<double>(options.top_p);
    sum += at(rank);
    if (enough) at(rank) = 0;
  }
  for (double& value : p) {
    value = value < static_cast<double>(options.min_p) * at(0) ? 0 : value;
  }
  normalize();
  return p;
}

// The value that chi-square with `freedom` degrees exceeds once in a million (Wilson-Hilferty).
double limit_of_chi_square(double freedom) {
  const double spread = 2 / (9 * freedom);
  return freedom * std::pow(1 - spread + 4.753 * std::sqrt(spread), 3);
}

void expect_frequencies(const SamplingOptions& options) {
  Sampler sampler(options, kLogits.size());
  std::vector<int> counts(kLogits.size());
  for (int i = 0; i < kNumDraws; ++i) {
    ++counts[static_cast<std::size_t>(sampler.sample(kLogits))];
  }
  const std::vector<double> expected = expected_probabilities(options);
  double chi_square = 0;
  double freedom = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i;
      continue;
    }
    const double wanted = expected[i] * kNumDraws;
    chi_square += (counts[i] - wanted) * (counts[i] - wanted) / wanted;
    ++freedom;
  }
  if (freedom > 0) {
    EXPECT_LT(chi_square, limit_of_chi_square(freedom));
  }
}

SamplingOptions make_options(float temperature, int top_k, float top_p, float min_p) {
  SamplingOptions options;
  options.temperature = temperature;
  options.top_k = top_k;
  options.top_p = top_p;
  options.min_p = min_p;
  return options;
}

TEST(SamplerStatistics, FrequenciesAreTheProbabilities) {
  for (const SamplingOptions& options :
       {make_options(1, 0, 1, 0), make_options(0.5F, 0, 1, 0), make_options(2.5F, 0, 1, 0),
        make_options(1, 4, 1, 0), make_options(1, 6, 1, 0), make_options(1, 1, 1, 0),
        make_options(1, 0, 0.8F, 0), make_options(1, 0, 0.3F, 0), make_options(1, 0, 1, 0.1F),
        make_options(1, 0, 1, 0.5F), make_options(0.7F, 5, 0.9F, 0),
        make_options(0.6F, 8, 0.95F, 0.05F), make_options(3, 0, 0.9F, 0.2F)}) {
    for (const std::uint64_t seed : {0ULL, 1ULL, 123456789ULL}) {
      SCOPED_TRACE(::testing::Message() << "temperature " << options.temperature << ", top_k "
                                        << options.top_k << ", top_p " << options.top_p
                                        << ", min_p " << options.min_p << ", seed " << seed);
      SamplingOptions seeded = options;
      seeded.seed = seed;
      expect_frequencies(seeded);
    }
  }
}

TEST(SamplerStatistics, NumbersAreUniformAndSeedsUnrelated) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream stream(seed);
    RandomStream neighbour(seed + 1);
    constexpr int kNum = 100'000;
    double sum = 0, squares = 0, products = 0, serial = 0, last = 0;
    for (int i = 0; i < kNum; ++i) {
      const double x = stream.next_uniform() - 0.5;
      ASSERT_TRUE(x >= -0.5 && x < 0.5);
      sum += x;
      squares += x * x;
      products += x * (neighbour.next_uniform() - 0.5);
      serial += x * last;
      last = x;
    }
    // Five standard deviations of each mean.
    EXPECT_NEAR(sum / kNum, 0, 5 * std::sqrt(1.0 / 12 / kNum));
    EXPECT_NEAR(squares / kNum, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / kNum));
    EXPECT_NEAR(products / kNum, 0, 5 * std::sqrt(1.0 / 144 / kNum));
    EXPECT_NEAR(serial / kNum, 0, 5 * std::sqrt(1.0 / 144 / kNum));
  }
}

}  // namespace
}  // namespace lattice
