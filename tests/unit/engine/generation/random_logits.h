#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace lattice {

/// Logits of about the spread of a language model's, the same on every platform. A coarse `grid`
/// (steps per unit; 0: none) makes equal ones.
inline std::vector<float> random_logits(std::size_t size, std::uint64_t seed, float grid = 0) {
  std::mt19937_64 random(seed);
  std::vector<float> logits(size);
  for (float& logit : logits) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(random() >> 40) * 0x1.0p-24F;
    logit = (sum - 2) * 10;
    if (grid > 0) logit = std::round(logit * grid) / grid;
  }
  return logits;
}

/// All ids, largest logit first; of equal ones, lower ids first.
inline std::vector<std::int32_t> sorted_ids(std::span<const float> logits) {
  std::vector<std::int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::sort(ids, [&](std::int32_t a, std::int32_t b) {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  return ids;
}

}  // namespace lattice
