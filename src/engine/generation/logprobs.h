#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lattice/sampling.h"

namespace lattice {

/// How likely the model finds a token, and which tokens it finds likeliest.
struct TokenLogprobs {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top;  ///< likeliest first; of equal ones, lower ids first
};

/// log softmax of the raw logits, of `chosen` and of the `num_top` likeliest tokens (fewer if the
/// vocabulary is smaller): log p[i] = logit[i] - max - log(sum_j e^(logit[j] - max)), in double.
///
/// The logits are the model's own, before bias, penalties, temperature and filters, so the numbers
/// say what the model thinks rather than how it was sampled; `chosen` need not be among `top`.
///
/// Throws LatticeError: kInvalidArgument for `chosen` outside the logits; kInternal for NaN, plus
/// infinity or no finite logit. Thread-safe.
TokenLogprobs compute_logprobs(std::span<const float> logits, std::int32_t chosen,
                               std::size_t num_top);

}  // namespace lattice
