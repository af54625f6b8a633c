#pragma once

#include "text/jinja/text.h"

namespace lattice::jinja {

// What Python 3 knows of characters and letter case (str.isspace, str.upper, ...).

bool is_space(char32_t c);
/// Where str.splitlines splits.
bool is_line_break(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_alphanumeric(char32_t c);
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);
/// What repr() shows as it is.
bool is_printable(char32_t c);

enum class LetterCase { kLower, kUpper, kTitle, kCapitalize, kSwap };

/// text.lower(), .upper(), .title(), .capitalize() and .swapcase().
Text change_case(const Text& text, LetterCase to, Budget& budget);

}  // namespace lattice::jinja
