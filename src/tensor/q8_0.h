#pragma once

#include <cstdint>
#include <span>

#include "base/float16.h"

namespace lattice {

// Q8_0: values in blocks of 32 along K, each a signed byte times the block's scale. The largest
// magnitude of a block becomes 127; the byte -128 is not written. Source: the GGML format.

inline constexpr std::int64_t kQ8BlockSize = 32;

/// A block of weights, as files store it: 34 bytes without padding, the scale little-endian.
struct Q8WeightBlock {
  Float16 scale;
  std::int8_t quants[kQ8BlockSize] = {};
};
static_assert(sizeof(Q8WeightBlock) == 34);

/// A block of activations.
struct Q8Block {
  float scale = 0;
  std::int8_t quants[kQ8BlockSize] = {};
};

/// Quantizes up to 32 weights; missing ones are zeros. The rounding is to the stored (f16) scale.
/// Values that are not finite give a scale that is not, and with it NaN in every product.
Q8WeightBlock quantize_weight_block(std::span<const float> values);

/// Blocks of a row of `num_columns` elements; the last one may be ragged.
constexpr std::int64_t num_q8_blocks(std::int64_t num_columns) {
  return num_columns / kQ8BlockSize + (num_columns % kQ8BlockSize != 0 ? 1 : 0);
}

/// Element `i` of a block, rounded to f32 once: scale * quant.
inline float dequantize(const Q8WeightBlock& block, std::size_t i) {
  return to_float(block.scale) * static_cast<float>(block.quants[i]);
}

/// Quantizes up to 32 activations: scale = max / 127 and quants = round(x * (127 / max)), halves to
/// even, in f32. Kernels compute the same bits.
Q8Block quantize_block(std::span<const float> values);

}  // namespace lattice
