#pragma once

#include <bit>
#include <cstdint>

namespace lattice {

/// e^x for x <= 0, with a relative error below 4e-16; 0 below -708 (where e^x leaves the normal
/// numbers). NaN is not allowed. Only IEEE additions and multiplications, so that the bits are the
/// same on every platform and a loop over it vectorizes; the C library's exp promises neither.
inline double portable_exp(double x) {
  constexpr double kLowest = -708.0;
  constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, kept in the low bits
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 33 bits: times an integer it is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const double clamped = x < kLowest ? kLowest : x;
  const double rounded = clamped * kLog2E + kRound;
  const double power = rounded - kRound;
  const double r = (clamped - power * kLn2High) - power * kLn2Low;  // |r| <= ln(2) / 2
  double series = 1.0 / 6227020800;                                 // Taylor up to r^13 / 13!
  series = series * r + 1.0 / 479001600;
  series = series * r + 1.0 / 39916800;
  series = series * r + 1.0 / 3628800;
  series = series * r + 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  series = series * r + 1.0;
  series = series * r + 1.0;
  // Times 2^power, by adding to the exponent.
  const double result = std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) +
                                              (std::bit_cast<std::uint64_t>(rounded) << 52));
  return x < kLowest ? 0.0 : result;
}

}  // namespace lattice
