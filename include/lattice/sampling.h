#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lattice/error.h"

namespace lattice {

/// How the next token is chosen. The default takes the most likely token.
///
/// The logits pass through these steps in the order of transformers' generate(): logit_bias,
/// repetition_penalty, (frequency_penalty, presence_penalty), temperature, top_k, top_p, min_p.
struct SamplingOptions {
  /// Logits are divided by it. 0: take the largest logit, of equal ones that with the lowest id;
  /// top_k, top_p, min_p and seed then change nothing. Otherwise at least kMinTemperature.
  float temperature = 0;
  /// Keep the k largest logits, and those equal to the k-th; 0: all.
  int top_k = 0;
  /// Keep the fewest of the most likely tokens whose probabilities reach this sum, at least one;
  /// of equally likely tokens, the lower ids. In 0..1; 1: all.
  float top_p = 1;
  /// Drop tokens less likely than this times the most likely one. In 0..1; 0: none.
  float min_p = 0;
  /// Divides the positive and multiplies the negative logits of the tokens in the prompt and the
  /// output (Keskar et al. 2019, as in transformers). Above 0; 1: off.
  float repetition_penalty = 1;
  /// Subtracted from the logit of every token in the output (OpenAI API). In -2..2.
  float presence_penalty = 0;
  /// Subtracted as many times as the token is in the output (OpenAI API). In -2..2.
  float frequency_penalty = 0;
  /// Added to the logits of these ids; minus infinity forbids a token. Every id at most once.
  std::vector<std::pair<std::int32_t, float>> logit_bias;
  /// Of the random numbers: equal seeds, logits and options give equal tokens everywhere.
  std::uint64_t seed = 0;

  static constexpr float kMinTemperature = 1e-4F;
  bool operator==(const SamplingOptions&) const = default;
};

/// Throws LatticeError(kInvalidArgument) naming the first option that is out of its range, or the
/// id of logit_bias that is not below `vocab_size` or occurs twice. Thread-safe.
void validate(const SamplingOptions& options, std::size_t vocab_size);

/// A token and the natural logarithm of its probability; minus infinity for probability 0.
struct TokenLogprob {
  std::int32_t id = 0;
  double logprob = 0;

  bool operator==(const TokenLogprob&) const = default;
};

}  // namespace lattice
