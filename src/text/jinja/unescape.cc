#include "base/result.h"
#include "text/jinja/lexer.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

// The value of a character as a digit, or 99.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10 : 99;
}

// Reads up to `count` digits at `at`.
char32_t read_digits(std::string_view text, std::size_t& at, std::size_t count, unsigned base) {
  char32_t value = 0;
  for (; count > 0 && at < text.size() && digit_value(text[at]) < base; --count, ++at) {
    value = value * base + digit_value(text[at]);
  }
  return value;
}

char simple_escape(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return '\0';
  }
}

void append_code(std::string& out, char32_t code, const std::string& where) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    raise(ErrorCode::kMalformed, "{}: a string escape names no character", where);
  }
  append_utf8(out, code);
}

}  // namespace

std::string unescape(std::string_view literal, const std::string& where) {
  std::string out;
  for (std::size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\' || at + 1 >= literal.size()) {
      out += literal[at++];
      continue;
    }
    const char c = literal[at + 1];
    if (const char simple = simple_escape(c); simple != '\0') {
      out += simple;
      at += 2;
    } else if (c == '\n') {
      at += 2;
    } else if (c >= '0' && c <= '7') {
      append_code(out, read_digits(literal, ++at, 3, 8), where);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const std::size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      const std::size_t begin = at += 2;
      const char32_t code = read_digits(literal, at, count, 16);
      if (at - begin < count) {
        raise(ErrorCode::kMalformed, "{}: truncated \\{} escape in a string", where, c);
      }
      append_code(out, code, where);
    } else if (c == 'N') {
      raise(ErrorCode::kUnsupported, "{}: \\N escapes in strings are not supported", where);
    } else {
      out += '\\';
      ++at;
      if (is_utf8_continuation(c) || static_cast<unsigned char>(c) >= 0x80) {
        // jinja2 spells such a character as an escape, whose backslash the first one then escapes.
        const auto code = static_cast<std::uint32_t>(next_code_point(literal, at));
        out += code < 0x100     ? fmt::format("x{:02x}", code)
               : code < 0x10000 ? fmt::format("u{:04x}", code)
                                : fmt::format("U{:08x}", code);
      }
    }
  }
  return out;
}

}  // namespace lattice::jinja
