#pragma once

#include <concepts>
#include <limits>
#include <optional>

namespace lattice {

/// a + b, or nothing when the sum does not fit T. For sizes that come from files.
template <std::unsigned_integral T>
constexpr std::optional<T> checked_add(T a, T b) {
  if (a > std::numeric_limits<T>::max() - b) return std::nullopt;
  return static_cast<T>(a + b);
}

/// a * b, or nothing when the product does not fit T. For sizes that come from files.
template <std::unsigned_integral T>
constexpr std::optional<T> checked_mul(T a, T b) {
  if (b != 0 && a > std::numeric_limits<T>::max() / b) return std::nullopt;
  return static_cast<T>(a * b);
}

}  // namespace lattice
