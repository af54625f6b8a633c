#include "tensor/q8_0.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lattice {
namespace {

constexpr float kMaxQuant = 127.0f;

/// The greatest magnitude; NaN when a value is not finite.
float max_magnitude(std::span<const float> values) {
  float max = 0.0f;
  for (const float value : values) {
    if (!std::isfinite(value)) return std::numeric_limits<float>::quiet_NaN();
    max = std::max(max, std::abs(value));
  }
  return max;
}

}  // namespace

Q8WeightBlock quantize_weight_block(std::span<const float> values) {
  Q8WeightBlock block;
  block.scale = to_float16(max_magnitude(values) / kMaxQuant);
  const float scale = to_float(block.scale);
  if (!(scale > 0.0f) || std::isinf(scale)) return block;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float quant = std::nearbyint(values[i] / scale);
    block.quants[i] = static_cast<std::int8_t>(std::clamp(quant, -kMaxQuant, kMaxQuant));
  }
  return block;
}

Q8Block quantize_block(std::span<const float> values) {
  Q8Block block;
  const float max = max_magnitude(values);
  block.scale = max / kMaxQuant;
  if (!(max > 0.0f)) return block;
  const float inverse = kMaxQuant / max;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A max below 2^-121 has an inverse that overflows; its products do not count.
    const float quant = std::isinf(inverse) ? 0.0f : std::nearbyint(values[i] * inverse);
    block.quants[i] = static_cast<std::int8_t>(quant);
  }
  return block;
}

}  // namespace lattice
