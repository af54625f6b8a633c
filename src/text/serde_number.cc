#include "text/serde_number.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/check.h"

namespace lattice {
namespace {

constexpr int kMaxPower = 308;

double power_of_ten(int exponent) {
  return std::strtod(fmt::format("1e{}", exponent).c_str(), nullptr);
}

// "-05", "+17" as to_chars() writes them.
int parse_exponent(const char* first, const char* last) {
  int exponent = 0;
  std::from_chars(*first == '+' ? first + 1 : first, last, exponent);
  return exponent;
}

}  // namespace

double serde_number(double value) {
  if (value == 0) return value;
  char text[40];
  const auto written =
      std::to_chars(text, text + sizeof(text), std::abs(value), std::chars_format::scientific);
  check(written.ec == std::errc(), "[text] a number of more than 40 characters");
  std::uint64_t digits = 0;
  int exponent = 0;
  const char* at = text;
  for (; at != written.ptr && *at != 'e'; ++at) {
    if (*at == '.') continue;
    digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    if (at > text + 1) --exponent;
  }
  exponent += parse_exponent(at + 1, written.ptr);
  auto result = static_cast<double>(digits);
  while (exponent < -kMaxPower && result != 0) {
    result /= power_of_ten(kMaxPower);
    exponent += kMaxPower;
  }
  if (result != 0) {
    result = exponent >= 0 ? result * power_of_ten(exponent) : result / power_of_ten(-exponent);
  }
  return value < 0 ? -result : result;
}

}  // namespace lattice
