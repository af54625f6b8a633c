#pragma once

#include <span>

namespace lattice::jinja {

/// The code points from `first` to `last`.
struct CharacterRange {
  char32_t first, last;
};

/// A character whose full upper or title case has several characters (0 pads).
struct SpecialCase {
  char32_t c;
  char32_t upper[3];
  char32_t title[3];
};

// Sorted tables of Python's str, written by tools/unicode/generate_python_text.py.
std::span<const CharacterRange> lower_ranges();
std::span<const CharacterRange> upper_ranges();
/// Digits that are not decimal digits.
std::span<const CharacterRange> digit_ranges();
/// Numeric characters that are not digits.
std::span<const CharacterRange> numeric_ranges();
std::span<const CharacterRange> case_ignorable_ranges();
std::span<const SpecialCase> special_cases();

}  // namespace lattice::jinja
