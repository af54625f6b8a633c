#pragma once

#include <array>
#include <cstdint>

#include "text/aligned_text.h"

namespace lattice {

/// The byte-level alphabet of GPT-2: printable Latin-1 bytes stand for themselves, the other 68 for
/// U+0100 ... U+0143 in byte order. Every byte thus becomes one character below U+0144.
constexpr std::array<char16_t, 256> make_byte_level_alphabet() {
  std::array<char16_t, 256> alphabet{};
  char16_t next = 0x100;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    alphabet[byte] = printable ? static_cast<char16_t>(byte) : next++;
  }
  return alphabet;
}

inline constexpr std::array<char16_t, 256> kByteLevelAlphabet = make_byte_level_alphabet();

/// Replaces every byte of `text` by its byte-level character. The first character made from a
/// character replaces it, the others are inserted, so that all share its origin.
void map_bytes_to_alphabet(AlignedText& text);

}  // namespace lattice
