#pragma once

#include "text/jinja/text.h"

namespace lattice::jinja {

// str.islower() and its kin: what all (cased) characters of a text are. False for no such one.
bool is_lower_text(const Text& text);
bool is_upper_text(const Text& text);
bool is_title_text(const Text& text);
bool is_alpha_text(const Text& text);
bool is_alphanumeric_text(const Text& text);
bool is_decimal_text(const Text& text);
bool is_digit_text(const Text& text);
bool is_numeric_text(const Text& text);
bool is_space_text(const Text& text);
/// True for an empty text as well.
bool is_printable_text(const Text& text);
bool is_ascii_text(const Text& text);

}  // namespace lattice::jinja
