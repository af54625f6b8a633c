#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "text/aligned_text.h"

namespace lattice::unicode {

/// A canonical or compatibility decomposition of one character, of up to 18 characters.
struct Decomposition {
  char32_t hangul[3] = {};
  std::span<const char32_t> table;
  std::uint8_t hangul_size = 0;

  std::span<const char32_t> characters() const {
    return hangul_size == 0 ? table : std::span<const char32_t>(hangul, hangul_size);
  }
};

/// The full decomposition of a character that has one (CodePointFlag kHasCanonical or
/// kHasCompatibility); empty for others. Compatibility decompositions include the canonical ones.
Decomposition decompose_canonical(char32_t c);
Decomposition decompose_compatibility(char32_t c);

/// The canonical combining class of a character that does not decompose; 0 for starters.
std::uint8_t combining_class(char32_t c);

/// The primary composite of two characters, or 0.
char32_t compose(char32_t first, char32_t second);

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

/// Brings `text` to a normalization form, with the origins the library gives: of a decomposed
/// character's parts the first replaces it and the others are inserted, and a composite sums up the
/// changes of what it absorbs. Linear in the size of the text.
void normalize(AlignedText& text, Form form);

}  // namespace lattice::unicode
