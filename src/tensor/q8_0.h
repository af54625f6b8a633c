#pragma once

#include <cstdint>
#include <span>

#include "base/float16.h"

namespace lattice {

// Q8_0: values in blocks of 32 along K, each a signed byte times the block's scale. The largest
// magnitude of a block becomes 127; the byte -128 is not written. Source: the GGML format.

inline constexpr std::int64_t kQ8BlockSize = 32;

/// A block of weights.
struct Q8WeightBlock {
  Float16 scale;
  std::int8_t quants[kQ8BlockSize] = {};
};

/// A block of activations.
struct Q8Block {
  float scale = 0;
  std::int8_t quants[kQ8BlockSize] = {};
};

/// Quantizes up to 32 weights; missing ones are zeros. The rounding is to the stored (f16) scale.
/// Values that are not finite give a scale that is not, and with it NaN in every product.
Q8WeightBlock quantize_weight_block(std::span<const float> values);

/// Quantizes up to 32 activations: scale = max / 127 and quants = round(x * (127 / max)), halves to
/// even, in f32. Kernels compute the same bits.
Q8Block quantize_block(std::span<const float> values);

}  // namespace lattice
