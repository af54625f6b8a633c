#pragma once

#include <cstdint>

namespace lattice {

/// Random numbers that are a function of (seed, index) alone: the same on every platform, whatever
/// else runs. Source: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014); the seed is mixed first, so that neighbouring seeds share no numbers.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(mix(seed ^ kSeedMask)) {}

  /// The next number, uniform in [0, 1): a multiple of 2^-53, never 1.
  double next_uniform() {
    state_ += kIncrement;
    return static_cast<double>(mix(state_) >> 11) * 0x1.0p-53;
  }

 private:
  static constexpr std::uint64_t kIncrement = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  static constexpr std::uint64_t kSeedMask = 0xD1B54A32D192ED03;   // any odd number

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace lattice
