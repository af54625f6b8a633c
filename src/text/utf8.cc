#include "text/utf8.h"

#include <simdjson.h>

namespace lattice {
namespace {

/// Length of the valid character at `at`, or 0. Unicode 15, table 3-7.
std::size_t valid_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (in(lead, 0xC2, 0xDF)) return in(byte(1), 0x80, 0xBF) ? 2 : 0;
  if (in(lead, 0xE0, 0xEF)) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return in(byte(1), low, high) && in(byte(2), 0x80, 0xBF) ? 3 : 0;
  }
  if (in(lead, 0xF0, 0xF4)) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    const bool valid = in(byte(1), low, high) && in(byte(2), 0x80, 0xBF) && in(byte(3), 0x80, 0xBF);
    return valid ? 4 : 0;
  }
  return 0;
}

/// Length of the beginning of a character that starts `bytes`, at least 1 and less than the whole
/// character unless that is there.
std::size_t subpart_length(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = lead >= 0xC2 && lead <= 0xF4 ? utf8_length(bytes[0]) : 1;
  std::size_t taken = 1;
  while (taken < length && taken < bytes.size()) {
    const auto next = static_cast<unsigned char>(bytes[taken]);
    unsigned char low = 0x80, high = 0xBF;
    if (taken == 1) {
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    }
    if (next < low || next > high) break;
    ++taken;
  }
  return taken;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::nullopt;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = valid_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

void append_utf8_lossy(std::string_view bytes, std::string& text) {
  while (const auto bad = find_invalid_utf8(bytes)) {
    text += bytes.substr(0, *bad);
    text += kReplacementCharacter;
    bytes.remove_prefix(*bad);
    bytes.remove_prefix(subpart_length(bytes));
  }
  text += bytes;
}

std::size_t incomplete_utf8_suffix(std::string_view bytes) {
  for (std::size_t size = 1; size <= 3 && size <= bytes.size(); ++size) {
    const std::string_view suffix = bytes.substr(bytes.size() - size);
    const auto lead = static_cast<unsigned char>(suffix[0]);
    if (is_utf8_continuation(suffix[0])) continue;
    const bool begins = lead >= 0xC2 && lead <= 0xF4 && utf8_length(suffix[0]) > size;
    return begins && subpart_length(suffix) == size ? size : 0;
  }
  return 0;
}

}  // namespace lattice
