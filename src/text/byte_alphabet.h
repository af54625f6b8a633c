#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace lattice {

/// The byte that a character of the byte-level alphabet stands for, or -1 for other characters.
inline int byte_level_byte(char32_t character) {
  static constexpr auto kTable = [] {
    std::array<std::int16_t, 0x144> table{};
    for (auto& entry : table) entry = -1;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      table[kByteLevelAlphabet[byte]] = static_cast<std::int16_t>(byte);
    }
    return table;
  }();
  return character < kTable.size() ? kTable[character] : -1;
}

/// Appends the bytes that `token` spells in the byte-level alphabet. False (with some of them
/// appended) when it has a character outside the alphabet.
inline bool append_byte_level_bytes(std::string_view token, std::string& bytes) {
  for (std::size_t at = 0; at < token.size();) {
    const int byte = byte_level_byte(next_code_point(token, at));
    if (byte < 0) return false;
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  }
  return true;
}

}  // namespace lattice
