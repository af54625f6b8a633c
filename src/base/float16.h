#pragma once

#include <bit>
#include <cstdint>

namespace lattice {

/// The upper half of an IEEE float32, as stored in files and packed weights.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// IEEE 754 binary16, as stored in files.
struct Float16 {
  std::uint16_t bits = 0;
};

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Exact, subnormals, infinities and NaN payloads included.
inline float to_float(Float16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1Fu;
  const std::uint32_t mantissa = value.bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
  // Subnormal: mantissa * 2^-24 is exact in float32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

/// Round to nearest even; NaN stays a (quiet) NaN.
inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return BFloat16{static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  }
  const std::uint32_t rounding = 0x7FFFu + ((bits >> 16) & 1u);
  return BFloat16{static_cast<std::uint16_t>((bits + rounding) >> 16)};
}

}  // namespace lattice
