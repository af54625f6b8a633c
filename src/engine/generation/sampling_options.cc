#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/result.h"
#include "lattice/sampling.h"

namespace lattice {
namespace {

void require(bool valid, std::string_view option, std::string_view expected, double got) {
  if (valid) return;
  raise(ErrorCode::kInvalidArgument, "[sampling] {}: expected {}, got {}", option, expected, got);
}

// False for NaN.
bool within(float value, float low, float high) { return value >= low && value <= high; }

void validate_bias(const SamplingOptions& options, std::size_t vocab_size) {
  std::vector<std::int32_t> ids;
  for (const auto& [id, bias] : options.logit_bias) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab_size) {
      raise(ErrorCode::kInvalidArgument,
            "[sampling] logit_bias: expected token ids below {}, got {}", vocab_size, id);
    }
    require(bias < std::numeric_limits<float>::infinity(), "logit_bias",
            "finite numbers or minus infinity", bias);
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) {
    raise(ErrorCode::kInvalidArgument, "[sampling] logit_bias: token {} occurs twice", *twice);
  }
}

}  // namespace

void validate(const SamplingOptions& options, std::size_t vocab_size) {
  constexpr float kMax = std::numeric_limits<float>::max();
  require(options.temperature == 0 || within(options.temperature, options.kMinTemperature, kMax),
          "temperature", "0 or a finite number of at least 0.0001", options.temperature);
  require(options.top_k >= 0, "top_k", "a number of tokens, or 0", options.top_k);
  require(within(options.top_p, 0, 1), "top_p", "a number in 0..1", options.top_p);
  require(within(options.min_p, 0, 1), "min_p", "a number in 0..1", options.min_p);
  require(within(options.repetition_penalty, std::numeric_limits<float>::min(), kMax),
          "repetition_penalty", "a finite number above 0", options.repetition_penalty);
  require(within(options.presence_penalty, -2, 2), "presence_penalty", "a number in -2..2",
          options.presence_penalty);
  require(within(options.frequency_penalty, -2, 2), "frequency_penalty", "a number in -2..2",
          options.frequency_penalty);
  validate_bias(options, vocab_size);
}

}  // namespace lattice
