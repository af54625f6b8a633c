#include "engine/generation/logprobs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/result.h"
#include "engine/generation/logit_scan.h"
#include "engine/generation/portable_exp.h"

namespace lattice {
namespace {

// log(sum e^(logit - max)), in lanes that the compiler can vectorize.
double log_sum_exp(std::span<const float> logits, float max) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> sums{};
  const auto weight = [max](float logit) {
    return portable_exp(static_cast<double>(logit) - static_cast<double>(max));
  };
  const std::size_t whole = logits.size() - logits.size() % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) sums[j] += weight(logits[i + j]);
  }
  for (std::size_t i = whole; i < logits.size(); ++i) sums[0] += weight(logits[i]);
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::log(total);
}

}  // namespace

TokenLogprobs compute_logprobs(std::span<const float> logits, std::int32_t chosen,
                               std::size_t num_top) {
  if (chosen < 0 || static_cast<std::size_t>(chosen) >= logits.size()) {
    raise(ErrorCode::kInvalidArgument, "[logprobs] expected a token id below {}, got {}",
          logits.size(), chosen);
  }
  const float max = max_logit(logits);
  const double log_total = log_sum_exp(logits, max);
  const auto logprob = [&](std::int32_t id) {
    const auto logit = static_cast<double>(logits[static_cast<std::size_t>(id)]);
    return TokenLogprob{id, logit - static_cast<double>(max) - log_total};
  };
  TokenLogprobs result{logprob(chosen), {}};
  for (const std::int32_t id : largest_ids(logits, num_top)) result.top.push_back(logprob(id));
  return result;
}

}  // namespace lattice
