#pragma once

#include <cstdint>
#include <span>

#include "lattice/generation.h"

namespace lattice {

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
