#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lattice {

/// A token that may be chosen.
struct WeightedToken {
  std::int32_t id;
  float logit;    ///< after all steps
  double weight;  ///< e^(logit - the largest one), above 0
};

/// The tokens that may be chosen, by rising id.
struct TokenDistribution {
  std::vector<WeightedToken> tokens;
  double total = 0;  ///< the sum of the weights, added up in the order of the tokens

  double probability(std::size_t i) const { return tokens[i].weight / total; }
};

/// Fills `out` with the tokens of at least `threshold`; `max` is the largest logit. Tokens whose
/// weight is 0 in double are left out.
void weigh_tokens(std::span<const float> logits, float threshold, float max,
                  TokenDistribution& out);

/// The total weight of all tokens, and a logit that no token needed for `top_p` of it is below.
struct TopPBound {
  float threshold;
  double total;
};
TopPBound bound_top_p(std::span<const float> logits, float max, double top_p);

/// Top-p: keeps the fewest of the most likely tokens whose weights reach `wanted`, at least one; of
/// equally likely tokens, the lower ids. Linear on average: nothing is sorted as a whole. Source:
/// Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020.
void keep_top_weight(double wanted, TokenDistribution& distribution);

/// Drops tokens less likely than `min_p` times the most likely one. Source: Nguyen et al., "Turning
/// Up the Heat: Min-p Sampling", 2024.
void keep_min_p(double min_p, TokenDistribution& distribution);

/// The token at `uniform`, in [0, 1), of the distribution function. Every token takes an interval
/// of its probability, so that none of probability 0 and none that was filtered can be drawn,
/// however close to 1 `uniform` is. `distribution` must not be empty.
std::int32_t draw_token(const TokenDistribution& distribution, double uniform);

}  // namespace lattice
