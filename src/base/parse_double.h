#pragma once

#include <charconv>

namespace lattice {

/// std::from_chars for double in decimal form, which Apple's C++ library lacks: [-]digits with an
/// optional point and exponent, as much of [first, last) as has that form, rounded to the nearest
/// double whatever the locale is. Errors in `ec`: invalid_argument (`value` is left alone) without
/// a digit, result_out_of_range (likewise) for what is too large, or too small to be anything but
/// zero. Unlike std::from_chars it does not know infinities and NaN by name.
std::from_chars_result parse_double(const char* first, const char* last, double& value);

}  // namespace lattice
