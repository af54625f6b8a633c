#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lattice {

/// The byte offset of the first byte that does not continue valid UTF-8 (overlong forms,
/// surrogates and code points above U+10FFFF are invalid), or nullopt when all of `text` is valid.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// Appends `bytes` to `text`; every maximal part that is not UTF-8 becomes one U+FFFD, as the
/// Unicode Standard recommends (3.9, "U+FFFD Substitution of Maximal Subparts").
void append_utf8_lossy(std::string_view bytes, std::string& text);

/// The number of bytes, 0 to 3, at the end of `bytes` that begin a character which more bytes could
/// complete. Cutting there changes nothing: both parts, made text by append_utf8_lossy(), are the
/// text of the whole.
std::size_t incomplete_utf8_suffix(std::string_view bytes);

/// Whether `byte` continues a character rather than starting one.
constexpr bool is_utf8_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Bytes of the character that starts with `lead`, in valid UTF-8.
constexpr std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Bytes that `code_point` takes in UTF-8.
constexpr std::size_t utf8_length(char32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

/// Decodes the character at `at` (which must start one) and moves `at` past it. The text must be
/// valid UTF-8.
inline char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const char32_t lead = byte(0);
  char32_t code_point = lead;
  if (lead < 0x80) {
    at += 1;
  } else if (lead < 0xE0) {
    code_point = ((lead & 0x1FU) << 6) | (byte(1) & 0x3FU);
    at += 2;
  } else if (lead < 0xF0) {
    code_point = ((lead & 0x0FU) << 12) | ((byte(1) & 0x3FU) << 6) | (byte(2) & 0x3FU);
    at += 3;
  } else {
    code_point = ((lead & 0x07U) << 18) | ((byte(1) & 0x3FU) << 12) | ((byte(2) & 0x3FU) << 6) |
                 (byte(3) & 0x3FU);
    at += 4;
  }
  return code_point;
}

/// Appends `code_point` (not a surrogate, at most U+10FFFF) to `out`.
inline void append_utf8(std::string& out, char32_t code_point) {
  const auto byte = [](char32_t value) {
    return static_cast<char>(static_cast<unsigned char>(value));
  };
  if (code_point < 0x80) {
    out.push_back(byte(code_point));
    return;
  }
  char bytes[4];
  std::size_t size = 0;
  if (code_point < 0x800) {
    bytes[size++] = byte(0xC0U | (code_point >> 6));
  } else {
    if (code_point < 0x10000) {
      bytes[size++] = byte(0xE0U | (code_point >> 12));
    } else {
      bytes[size++] = byte(0xF0U | (code_point >> 18));
      bytes[size++] = byte(0x80U | ((code_point >> 12) & 0x3FU));
    }
    bytes[size++] = byte(0x80U | ((code_point >> 6) & 0x3FU));
  }
  bytes[size++] = byte(0x80U | (code_point & 0x3FU));
  out.append(bytes, size);
}

}  // namespace lattice
