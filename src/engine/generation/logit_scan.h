#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lattice {

/// The largest logit. Throws LatticeError(kInternal) naming the first token whose logit is NaN or
/// plus infinity, or when all are minus infinity: a forward pass that went wrong must not look like
/// a token. `logits` must not be empty. Thread-safe, like everything here.
float max_logit(std::span<const float> logits);

/// The id of the largest logit; of equal ones, the lowest. Throws like max_logit().
std::int32_t argmax(std::span<const float> logits);

/// The k-th largest logit, counting equal ones separately; the smallest for k >= logits.size().
/// No NaN; k > 0. One pass plus some work per candidate: linear, and fast for a small k.
float kth_largest(std::span<const float> logits, std::size_t k);

/// The ids of the n largest logits, largest first; of equal ones, lower ids first.
std::vector<std::int32_t> largest_ids(std::span<const float> logits, std::size_t n);

}  // namespace lattice
