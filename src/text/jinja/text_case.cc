#include "text/jinja/text_case.h"

#include "text/jinja/characters.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

template <typename Test>
bool all_of(const Text& text, Test test) {
  for (std::size_t at = 0; at < text.size();) {
    if (!test(next_code_point(text.bytes(), at))) return false;
  }
  return true;
}

}  // namespace

bool is_lower_text(const Text& text) {
  bool any = false;
  return all_of(text,
                [&](char32_t c) {
                  any = any || is_lower(c);
                  return !is_upper(c) && !is_title(c);
                }) &&
         any;
}

bool is_upper_text(const Text& text) {
  bool any = false;
  return all_of(text,
                [&](char32_t c) {
                  any = any || is_upper(c);
                  return !is_lower(c) && !is_title(c);
                }) &&
         any;
}

bool is_title_text(const Text& text) {
  bool any = false;
  bool in_word = false;
  return all_of(text,
                [&](char32_t c) {
                  const bool starts = is_upper(c) || is_title(c);
                  const bool fine = starts ? !in_word : !is_lower(c) || in_word;
                  in_word = starts || is_lower(c);
                  any = any || in_word;
                  return fine;
                }) &&
         any;
}

bool is_alpha_text(const Text& text) { return !text.empty() && all_of(text, is_alpha); }
bool is_alphanumeric_text(const Text& text) {
  return !text.empty() && all_of(text, is_alphanumeric);
}
bool is_decimal_text(const Text& text) { return !text.empty() && all_of(text, is_decimal); }
bool is_digit_text(const Text& text) { return !text.empty() && all_of(text, is_digit); }
bool is_numeric_text(const Text& text) { return !text.empty() && all_of(text, is_numeric); }
bool is_space_text(const Text& text) { return !text.empty() && all_of(text, is_space); }
bool is_printable_text(const Text& text) { return all_of(text, is_printable); }
bool is_ascii_text(const Text& text) { return text.is_ascii(); }

}  // namespace lattice::jinja
