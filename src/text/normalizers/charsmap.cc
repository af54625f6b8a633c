#include "text/normalizers/charsmap.h"

#include <cstring>

#include "text/utf8.h"

namespace lattice::normalizers {
namespace {

// A unit of the double array: label in the low byte (bit 31 set marks a value), bit 8 tells that a
// key ends here, bits 10 to 30 hold the offset of the children, shifted by 8 when bit 9 is set.
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FFU; }
bool ends_key(std::uint32_t unit) { return (unit & 0x100U) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFFU; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200U) >> 6); }

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::uint32_t read_u32(const char* bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view blob) {
  constexpr std::size_t kHeader = 4;
  if (blob.size() < kHeader) {
    return fail(ErrorCode::kMalformed, "character map of {} bytes", blob.size());
  }
  const std::size_t trie_bytes = read_u32(blob.data()) / 4 * std::size_t{4};
  if (trie_bytes == 0 || trie_bytes > blob.size() - kHeader) {
    return fail(ErrorCode::kMalformed, "character map of {} bytes with a trie of {} bytes",
                blob.size(), trie_bytes);
  }
  Charsmap map;
  map.units_.resize(trie_bytes / 4);
  for (std::size_t i = 0; i < map.units_.size(); ++i) {
    map.units_[i] = read_u32(blob.data() + kHeader + 4 * i);
  }
  map.replacements_ = blob.substr(kHeader + trie_bytes);
  if (const auto invalid = find_invalid_utf8(map.replacements_)) {
    return fail(ErrorCode::kMalformed, "character map: invalid UTF-8 at byte {} of its texts",
                *invalid);
  }
  return map;
}

std::optional<std::string_view> Charsmap::find(std::string_view text) const {
  std::uint32_t at = offset_of(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return std::nullopt;
    at ^= byte;
    if (at >= units_.size() || label_of(units_[at]) != byte) return std::nullopt;
    const std::uint32_t unit = units_[at];
    at ^= offset_of(unit);
    if (!ends_key(unit)) continue;
    if (at >= units_.size()) return std::nullopt;
    const std::size_t begin = value_of(units_[at]);
    if (begin > replacements_.size() ||
        (begin < replacements_.size() && is_utf8_continuation(replacements_[begin]))) {
      return std::nullopt;
    }
    const std::size_t end = std::min(replacements_.find('\0', begin), replacements_.size());
    return std::string_view(replacements_).substr(begin, end - begin);
  }
  return std::nullopt;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t given = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int digit = k < given ? base64_digit(text[i + k]) : 0;
      if (digit < 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t k = 0; k + 1 < given; ++k) {
      bytes.push_back(static_cast<char>(static_cast<unsigned char>(group >> (16 - 8 * k))));
    }
    // Bits behind the last byte must be 0.
    if (given < 4 && (group & (given == 3 ? 0xFFU : 0xFFFFU)) != 0) return std::nullopt;
  }
  return bytes;
}

}  // namespace lattice::normalizers
