#pragma once

#include <cstdint>

namespace lattice {

// The greatest sizes that a config may ask for: beyond any published model, small enough that
// products of two fit 64 bits.
inline constexpr std::int64_t kMaxWidth = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxVocab = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxLayers = 1024;
inline constexpr std::int64_t kMaxHeadDim = 4096;

}  // namespace lattice
