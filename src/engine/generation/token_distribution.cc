#include "engine/generation/token_distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "engine/generation/portable_exp.h"

namespace lattice {
namespace {

using Tokens = std::vector<WeightedToken>;

// A total order, so that every cut is defined: the likelier token first, then the lower id.
bool is_before(const WeightedToken& a, const WeightedToken& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

double total_weight(const Tokens& tokens) {
  double total = 0;
  for (const WeightedToken& token : tokens) total += token.weight;
  return total;
}

// Tokens are looked at in blocks: their weights are computed together, and a threshold usually
// rules out most blocks at once.
constexpr std::size_t kBlock = 128;

bool has_at_least(std::span<const float> block, float threshold) {
  std::int32_t found = 0;
  for (const float logit : block) found |= logit >= threshold ? 1 : 0;
  return found != 0;
}

void weigh(std::span<const float> block, float max, std::array<double, kBlock>& weights) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    weights[i] = portable_exp(static_cast<double>(block[i]) - static_cast<double>(max));
  }
}

// Bins of an eighth of a nat below the largest logit; the last one takes the rest.
constexpr std::size_t kNumBins = 512;
constexpr double kBinsPerNat = 8;

std::array<double, kNumBins> weigh_bins(std::span<const float> logits, float max) {
  std::array<double, kNumBins> sums{};
  std::array<double, kBlock> weights;
  std::array<std::int32_t, kBlock> bins;
  for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const auto block = logits.subspan(begin, std::min(kBlock, logits.size() - begin));
    weigh(block, max, weights);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double below = (static_cast<double>(max) - static_cast<double>(block[i])) * kBinsPerNat;
      bins[i] = static_cast<std::int32_t>(below < kNumBins - 1 ? below : kNumBins - 1);
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      sums[static_cast<std::size_t>(bins[i])] += weights[i];
    }
  }
  return sums;
}

// The last token, in is_before's order, that is needed to reach `wanted`. Halves are chosen by
// nth_element and added up in the order of ids, which makes the sums the same everywhere.
WeightedToken find_last_kept(Tokens tokens, double wanted) {
  constexpr std::size_t kFew = 32;
  Tokens scratch;
  while (tokens.size() > kFew) {
    scratch = tokens;
    const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
    std::nth_element(scratch.begin(), middle, scratch.end(), is_before);
    const auto is_first_half = [pivot = *middle](const WeightedToken& token) {
      return is_before(token, pivot);
    };
    double sum = 0;
    for (const WeightedToken& token : tokens) {
      if (is_first_half(token)) sum += token.weight;
    }
    const bool reached = sum >= wanted;
    if (!reached) wanted -= sum;
    std::erase_if(tokens, [&](const WeightedToken& t) { return is_first_half(t) != reached; });
  }
  std::sort(tokens.begin(), tokens.end(), is_before);
  std::size_t last = 0;
  for (; last + 1 < tokens.size() && tokens[last].weight < wanted; ++last) {
    wanted -= tokens[last].weight;
  }
  return tokens[last];
}

}  // namespace

void weigh_tokens(std::span<const float> logits, float threshold, float max,
                  TokenDistribution& out) {
  out.tokens.clear();
  std::array<double, kBlock> weights;
  std::array<WeightedToken, kBlock> kept;
  for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const auto block = logits.subspan(begin, std::min(kBlock, logits.size() - begin));
    if (!has_at_least(block, threshold)) continue;
    weigh(block, max, weights);
    std::ptrdiff_t num_kept = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      kept[static_cast<std::size_t>(num_kept)] = {static_cast<std::int32_t>(begin + i), block[i],
                                                  weights[i]};
      num_kept += block[i] >= threshold && weights[i] > 0 ? 1 : 0;
    }
    out.tokens.insert(out.tokens.end(), kept.begin(), kept.begin() + num_kept);
  }
  out.total = total_weight(out.tokens);
}

TopPBound bound_top_p(std::span<const float> logits, float max, double top_p) {
  const std::array<double, kNumBins> sums = weigh_bins(logits, max);
  TopPBound bound{-std::numeric_limits<float>::infinity(), 0};
  for (const double sum : sums) bound.total += sum;
  // A little more than is needed, because the sums are rounded.
  const double wanted = top_p * bound.total * (1 + 1e-9);
  double sum = 0;
  for (std::size_t bin = 0; bin + 1 < kNumBins; ++bin) {
    sum += sums[bin];
    if (sum < wanted || sum == 0) continue;
    const double edge = static_cast<double>(max) - static_cast<double>(bin + 1) / kBinsPerNat;
    bound.threshold = std::nextafter(static_cast<float>(edge), bound.threshold);
    break;
  }
  return bound;
}

void keep_top_weight(double wanted, TokenDistribution& distribution) {
  check(!distribution.tokens.empty(), "[sampling] no tokens");
  const WeightedToken last = find_last_kept(distribution.tokens, wanted);
  std::erase_if(distribution.tokens,
                [&](const WeightedToken& token) { return is_before(last, token); });
  distribution.total = total_weight(distribution.tokens);
}

void keep_min_p(double min_p, TokenDistribution& distribution) {
  double max = 0;
  for (const WeightedToken& token : distribution.tokens) max = std::max(max, token.weight);
  std::erase_if(distribution.tokens,
                [&](const WeightedToken& token) { return token.weight < min_p * max; });
  distribution.total = total_weight(distribution.tokens);
}

std::int32_t draw_token(const TokenDistribution& distribution, double uniform) {
  check(!distribution.tokens.empty(), "[sampling] no tokens");
  // The product may round up to the total, which no sum exceeds.
  const double target =
      std::min(uniform * distribution.total, std::nextafter(distribution.total, 0.0));
  double sum = 0;
  for (const WeightedToken& token : distribution.tokens) {
    sum += token.weight;
    if (sum > target) return token.id;
  }
  raise(ErrorCode::kInternal, "[sampling] the weights do not add up to {}", distribution.total);
}

}  // namespace lattice
