#include "text/jinja/characters.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/jinja/character_data.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

bool is_in(std::span<const CharacterRange> ranges, char32_t c) {
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), c,
      [](char32_t value, const CharacterRange& range) { return value < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_cased(char32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }
bool is_case_ignorable(char32_t c) { return is_in(case_ignorable_ranges(), c); }

constexpr char32_t kCapitalSigma = 0x3A3;

const SpecialCase* find_special(char32_t c) {
  const auto all = special_cases();
  const auto found =
      std::lower_bound(all.begin(), all.end(), c,
                       [](const SpecialCase& entry, char32_t value) { return entry.c < value; });
  return found != all.end() && found->c == c ? &*found : nullptr;
}

// The position of the code point before the one at `at`.
std::size_t before(std::string_view text, std::size_t at) {
  do {
    --at;
  } while (is_utf8_continuation(text[at]));
  return at;
}

// Whether the capital sigma in [begin, end) ends a word: its lower case then looks different.
bool is_final_sigma(std::string_view text, std::size_t begin, std::size_t end) {
  char32_t c = 0;
  bool found = false;
  for (std::size_t at = begin; at > 0 && !found;) {
    at = before(text, at);
    std::size_t next = at;
    c = next_code_point(text, next);
    found = !is_case_ignorable(c);
  }
  if (!found || !is_cased(c)) return false;
  for (std::size_t at = end; at < text.size();) {
    c = next_code_point(text, at);
    if (!is_case_ignorable(c)) return !is_cased(c);
  }
  return true;
}

// Writes one character of `text` in another case.
class CaseWriter {
 public:
  CaseWriter(const Text& text, TextBuilder& out) : text_(text.bytes()), out_(out), is_user_(text) {}

  void write(std::size_t begin, std::size_t end, char32_t c, LetterCase to) {
    const bool user = is_user_(begin);
    const auto code = static_cast<utf8proc_int32_t>(c);
    if (to == LetterCase::kLower) {
      if (c == 0x130) {  // the one lower case of two characters
        out_.append_code_point('i', user);
        out_.append_code_point(0x307, user);
      } else if (c == kCapitalSigma) {
        out_.append_code_point(is_final_sigma(text_, begin, end) ? 0x3C2 : 0x3C3, user);
      } else {
        out_.append_code_point(static_cast<char32_t>(utf8proc_tolower(code)), user);
      }
      return;
    }
    const bool title = to == LetterCase::kTitle;
    if (const SpecialCase* special = find_special(c)) {
      for (const char32_t part : title ? special->title : special->upper) {
        if (part != 0) out_.append_code_point(part, user);
      }
      return;
    }
    const auto mapped = title ? utf8proc_totitle(code) : utf8proc_toupper(code);
    out_.append_code_point(static_cast<char32_t>(mapped), user);
  }

 private:
  std::string_view text_;
  TextBuilder& out_;
  UserCursor is_user_;
};

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x9 && c <= 0xD) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_line_break(char32_t c) {
  return (c >= 0xA && c <= 0xD) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_alpha(char32_t c) {
  const auto group = category(c);
  return group >= UTF8PROC_CATEGORY_LU && group <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(char32_t c) { return is_decimal(c) || is_in(digit_ranges(), c); }
bool is_numeric(char32_t c) { return is_digit(c) || is_in(numeric_ranges(), c); }
bool is_alphanumeric(char32_t c) { return is_alpha(c) || is_numeric(c); }

bool is_lower(char32_t c) { return c < 0x80 ? c >= 'a' && c <= 'z' : is_in(lower_ranges(), c); }

bool is_upper(char32_t c) { return c < 0x80 ? c >= 'A' && c <= 'Z' : is_in(upper_ranges(), c); }

bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= ' ' && c < 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

Text change_case(const Text& text, LetterCase to, Budget& budget) {
  TextBuilder out(budget);
  CaseWriter writer(text, out);
  const std::string_view bytes = text.bytes();
  bool in_word = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(bytes, at);
    LetterCase here = to;
    if (to == LetterCase::kTitle || to == LetterCase::kCapitalize) {
      here = in_word ? LetterCase::kLower : LetterCase::kTitle;
      in_word = to == LetterCase::kCapitalize || is_cased(c);
    } else if (to == LetterCase::kSwap) {
      if (!is_upper(c) && !is_lower(c)) {
        out.append(text, begin, at);
        continue;
      }
      here = is_upper(c) ? LetterCase::kLower : LetterCase::kUpper;
    }
    writer.write(begin, at, c, here);
  }
  return out.take();
}

}  // namespace lattice::jinja
