#include "base/parse_double.h"

#include <locale.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include <algorithm>
#include <cmath>
#include <string>

namespace lattice {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_digits(const char* first, const char* last) {
  return std::find_if_not(first, last, is_digit);
}

// Where the number that begins at `first` ends; `first` itself without a digit.
const char* end_of_number(const char* first, const char* last) {
  const char* const whole = first != last && *first == '-' ? first + 1 : first;
  const char* end = skip_digits(whole, last);
  auto num_digits = end - whole;
  if (end != last && *end == '.') {
    const char* const fraction = end + 1;
    end = skip_digits(fraction, last);
    num_digits += end - fraction;
  }
  if (num_digits == 0) return first;
  if (end != last && (*end | 0x20) == 'e') {
    const char* exponent = end + 1;
    if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
    const char* const behind = skip_digits(exponent, last);
    if (behind != exponent) end = behind;
  }
  return end;
}

// strtod() takes the decimal point from the locale of the process; this one is always "C".
locale_t c_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// Whether any digit of the number's significand is not 0.
bool is_nonzero(const std::string& number) {
  const std::string significand = number.substr(0, number.find_first_of("eE"));
  return significand.find_first_of("123456789") != std::string::npos;
}

}  // namespace

std::from_chars_result parse_double(const char* first, const char* last, double& value) {
  const char* const end = end_of_number(first, last);
  if (end == first) return {first, std::errc::invalid_argument};
  const std::string number(first, end);
  const double parsed = ::strtod_l(number.c_str(), nullptr, c_locale());
  if (std::isinf(parsed) || (parsed == 0.0 && is_nonzero(number))) {
    return {end, std::errc::result_out_of_range};
  }
  value = parsed;
  return {end, std::errc()};
}

}  // namespace lattice
