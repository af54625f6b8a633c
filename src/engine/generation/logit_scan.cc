#include "engine/generation/logit_scan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "base/check.h"

namespace lattice {
namespace {

constexpr std::size_t kLanes = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Lanes that the compiler can keep in vector registers; a NaN or plus infinity marks its lane.
struct Lanes {
  std::array<float, kLanes> max;
  std::array<std::int32_t, kLanes> bad{};
};

Lanes scan(std::span<const float> logits) {
  Lanes lanes;
  lanes.max.fill(-kInfinity);
  const std::size_t whole = logits.size() - logits.size() % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      const float logit = logits[i + j];
      lanes.max[j] = logit > lanes.max[j] ? logit : lanes.max[j];
      lanes.bad[j] |= logit < kInfinity ? 0 : 1;
    }
  }
  for (std::size_t i = whole; i < logits.size(); ++i) {
    lanes.max[0] = std::max(lanes.max[0], logits[i]);
    lanes.bad[0] |= logits[i] < kInfinity ? 0 : 1;
  }
  return lanes;
}

std::size_t index_of(std::span<const float> logits, float value) {
  return static_cast<std::size_t>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

}  // namespace

float max_logit(std::span<const float> logits) {
  check(!logits.empty(), "[sampling] no logits");
  const Lanes lanes = scan(logits);
  if (std::ranges::any_of(lanes.bad, [](std::int32_t bad) { return bad != 0; })) {
    const auto bad = std::ranges::find_if(logits, [](float x) { return !(x < kInfinity); });
    raise(ErrorCode::kInternal, "[sampling] the logit of token {} is {}", bad - logits.begin(),
          *bad);
  }
  const float max = std::ranges::max(lanes.max);
  check(max > -kInfinity, "[sampling] all {} logits are minus infinity", logits.size());
  return max;
}

std::int32_t argmax(std::span<const float> logits) {
  return static_cast<std::int32_t>(index_of(logits, max_logit(logits)));
}

float kth_largest(std::span<const float> logits, std::size_t k) {
  if (k >= logits.size()) return std::ranges::min(logits);
  // Candidates above a rising threshold; whenever they are too many, the k best remain.
  const std::size_t room = 2 * k + 1024;
  std::vector<float> best(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(k));
  best.reserve(std::min(room, logits.size()));
  const auto keep_best = [&] {
    std::nth_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k - 1), best.end(),
                     std::greater<>());
    best.resize(k);
    return best[k - 1];
  };
  float threshold = keep_best();
  for (const float logit : logits.subspan(k)) {
    if (logit <= threshold) continue;
    best.push_back(logit);
    if (best.size() == room) threshold = keep_best();
  }
  return keep_best();
}

std::vector<std::int32_t> largest_ids(std::span<const float> logits, std::size_t n) {
  std::vector<std::int32_t> ids;
  if (n == 0 || logits.empty()) return ids;
  const float threshold = kth_largest(logits, n);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] >= threshold) ids.push_back(static_cast<std::int32_t>(i));
  }
  std::sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  ids.resize(std::min(n, ids.size()));
  return ids;
}

}  // namespace lattice
