#include "text/jinja/number_text.h"

#include <charconv>
#include <limits>
#include <string>

#include "base/parse_double.h"
#include "text/jinja/text_search.h"

namespace lattice::jinja {
namespace {

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

std::string stripped(std::string_view text) {
  return std::string(strip(Text(text), Side::kBoth, nullptr).bytes());
}

// Removes the underscores between digits; false when one is elsewhere.
bool remove_underscores(std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
      continue;
    }
    const auto is_alnum = [](char c) {
      return is_ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    };
    if (i == 0 || i + 1 == text.size() || !is_alnum(text[i - 1]) || !is_alnum(text[i + 1])) {
      return false;
    }
  }
  text = std::move(result);
  return true;
}

bool take_sign(std::string& text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.erase(0, 1);
  return negative;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  std::string digits = stripped(text);
  const bool negative = take_sign(digits);
  if (digits.size() > 1 && digits[0] == '0') {
    const char letter = static_cast<char>(digits[1] | 0x20);
    const int prefix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (prefix != 0 && (base == 0 || base == prefix)) {
      base = prefix;
      digits.erase(0, digits.size() > 2 && digits[2] == '_' ? 3 : 2);
    } else if (base == 0 && digits.find_first_not_of("0_") != std::string::npos) {
      return std::nullopt;
    }
  }
  if (base == 0) base = 10;
  if (digits.empty() || !remove_underscores(digits)) return std::nullopt;
  std::uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, magnitude, static_cast<int>(base));
  if (result.ptr != end) return std::nullopt;
  const auto limit = std::uint64_t{INT64_MAX} + (negative ? 1 : 0);
  if (result.ec != std::errc() || magnitude > limit) eval_fail("an integer does not fit 64 bits");
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

std::optional<double> parse_float(std::string_view text) {
  std::string digits = stripped(text);
  const bool negative = take_sign(digits);
  std::string lower;
  for (const char c : digits) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  double number = 0;
  if (lower == "inf" || lower == "infinity") {
    number = std::numeric_limits<double>::infinity();
  } else if (lower == "nan") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (digits.empty() || (!is_ascii_digit(digits[0]) && digits[0] != '.')) return std::nullopt;
    if (!remove_underscores(digits)) return std::nullopt;
    const char* end = digits.data() + digits.size();
    const auto result = parse_double(digits.data(), end, number);
    if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) {
      number = digits.find("e-") != std::string::npos || digits.find("E-") != std::string::npos
                   ? 0.0
                   : std::numeric_limits<double>::infinity();
    }
  }
  return negative ? -number : number;
}

}  // namespace lattice::jinja
