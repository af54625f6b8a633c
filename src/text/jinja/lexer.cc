#include "text/jinja/lexer.h"

#include <algorithm>
#include <array>

#include "base/result.h"
#include "text/jinja/characters.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

using Type = Token::Type;
constexpr std::size_t kNpos = std::string_view::npos;

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Line ends as \n, without one at the very end.
std::string normalize(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& name)
      : source_(normalize(source)), text_(source_), name_(name) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) lex_data();
    add(Type::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    raise(ErrorCode::kMalformed, "{}: {}", place(name_, line_), reason);
  }

  bool starts_with(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }

  // Moves to `end`, counting lines.
  void advance_to(std::size_t end) {
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(end),
                                                   '\n'));
    if (end > at_) line_starting_ = text_[end - 1] == '\n';
    at_ = end;
  }

  std::size_t skip_spaces(std::size_t from) const {
    while (from < text_.size()) {
      std::size_t next = from;
      if (!is_space(next_code_point(text_, next))) break;
      from = next;
    }
    return from;
  }

  void add(Type type, std::string text) { tokens_.push_back({type, line_, std::move(text)}); }

  // The first tag opening at or after `from`, or the end.
  std::size_t find_tag(std::size_t from) const {
    for (std::size_t i = from; i + 1 < text_.size(); ++i) {
      if (text_[i] == '{' && (text_[i + 1] == '{' || text_[i + 1] == '%' || text_[i + 1] == '#')) {
        return i;
      }
    }
    return text_.size();
  }

  // Adds the text [at_, end) before a tag with `sign`, as far as white space control leaves it.
  void add_data(std::size_t end, char sign, bool is_variable) {
    std::string_view data = text_.substr(at_, end - at_);
    if (sign == '-') {
      while (!data.empty()) {
        std::size_t last = data.size() - 1;
        while (is_utf8_continuation(data[last])) --last;
        std::size_t next = last;
        if (!is_space(next_code_point(data, next))) break;
        data = data.substr(0, last);
      }
    } else if (sign != '+' && !is_variable) {
      const std::size_t newline = data.rfind('\n');
      const std::size_t begin = newline == kNpos ? 0 : newline + 1;
      if ((begin > 0 || line_starting_) && skip_spaces(at_ + begin) >= end) {
        data = data.substr(0, begin);
      }
    }
    if (!data.empty()) add(Type::kData, std::string(data));
    advance_to(end);
  }

  void lex_data() {
    const std::size_t tag = find_tag(at_);
    if (tag == text_.size()) {
      add(Type::kData, std::string(text_.substr(at_)));
      advance_to(tag);
      return;
    }
    const char kind = text_[tag + 1];
    const char next = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
    const char sign = next == '-' || next == '+' ? next : '\0';
    add_data(tag, sign, kind == '{');
    const std::size_t inside = tag + (sign != '\0' ? 3 : 2);
    if (kind == '#') return lex_comment(inside);
    if (kind == '%') {
      if (const std::size_t body = raw_body(inside); body != kNpos) return lex_raw(body);
    }
    add(kind == '{' ? Type::kVariableBegin : Type::kBlockBegin, "");
    advance_to(inside);
    lex_tag(kind == '{' ? "}}" : "%}");
  }

  // The end of a block tag whose closing starts at `at`: "-%}" takes the white space behind it,
  // "%}" one newline, "+%}" nothing; npos when there is none.
  std::size_t block_end(std::size_t at, std::string_view close) const {
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    if (rest.starts_with('-') && rest.substr(1).starts_with(close)) return skip_spaces(at + 3);
    if (rest.starts_with('+') && rest.substr(1).starts_with(close)) return at + 3;
    if (!rest.starts_with(close)) return kNpos;
    return at + 2 + (rest.substr(2).starts_with('\n') ? 1 : 0);
  }

  void lex_comment(std::size_t inside) {
    advance_to(inside);
    for (std::size_t i = inside; i < text_.size(); ++i) {
      if (const std::size_t end = block_end(i, "#}"); end != kNpos) return advance_to(end);
    }
    fail("missing end of comment");
  }

  // Where the content of a raw block starts, if the tag is {% raw %}.
  std::size_t raw_body(std::size_t inside) const {
    std::size_t at = skip_spaces(inside);
    if (!text_.substr(at).starts_with("raw")) return kNpos;
    at = skip_spaces(at + 3);
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("-%}")) return skip_spaces(at + 3);
    return rest.starts_with("%}") ? at + 2 : kNpos;
  }

  void lex_raw(std::size_t body) {
    advance_to(body);
    for (std::size_t tag = text_.find("{%", at_); tag != kNpos; tag = text_.find("{%", tag + 1)) {
      const char next = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
      const char sign = next == '-' || next == '+' ? next : '\0';
      std::size_t at = skip_spaces(tag + (sign != '\0' ? 3 : 2));
      if (!text_.substr(at).starts_with("endraw")) continue;
      at = skip_spaces(at + 6);
      const std::size_t end = block_end(at, "%}");
      if (end == kNpos) continue;
      add_data(tag, sign, false);
      return advance_to(end);
    }
    fail("missing end of raw block");
  }

  // The tokens up to the closing `close`, which ends the tag only outside brackets.
  void lex_tag(std::string_view close) {
    const bool is_block = close == "%}";
    brackets_.clear();
    while (at_ < text_.size()) {
      if (brackets_.empty()) {
        std::size_t end = kNpos;
        if (is_block) {
          end = block_end(at_, close);
        } else if (starts_with("-}}")) {
          end = skip_spaces(at_ + 3);
        } else if (starts_with("}}")) {
          end = at_ + 2;
        }
        if (end != kNpos) {
          add(is_block ? Type::kBlockEnd : Type::kVariableEnd, "");
          return advance_to(end);
        }
      }
      lex_token();
    }
  }

  void lex_token() {
    const char c = text_[at_];
    const std::size_t after_spaces = skip_spaces(at_);
    if (after_spaces > at_) return advance_to(after_spaces);
    if (is_ascii_digit(c)) return lex_number();
    if (is_name_start(c)) return lex_name();
    if (c == '"' || c == '\'') return lex_string(c);
    lex_operator();
  }

  // The end of digits that single underscores may separate.
  std::size_t digits_end(std::size_t at, bool (*is_digit)(char)) const {
    while (at < text_.size()) {
      const std::size_t digit = text_[at] == '_' ? at + 1 : at;
      if (digit >= text_.size() || !is_digit(text_[digit])) break;
      at = digit + 1;
    }
    return at;
  }

  // The end of a float that starts with the digits before `whole`, or npos.
  std::size_t float_end(std::size_t whole) const {
    if (at_ > 0 && text_[at_ - 1] == '.') return kNpos;
    const auto has_digit = [&](std::size_t at) {
      return at < text_.size() && is_ascii_digit(text_[at]);
    };
    std::size_t end = kNpos;
    std::size_t at = whole;
    if (at < text_.size() && text_[at] == '.' && has_digit(at + 1)) {
      at = end = digits_end(at + 1, is_ascii_digit);
    }
    if (at < text_.size() && (text_[at] == 'e' || text_[at] == 'E')) {
      std::size_t exponent = at + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (has_digit(exponent)) end = digits_end(exponent, is_ascii_digit);
    }
    return end;
  }

  void lex_number() {
    const std::size_t whole = digits_end(at_, is_ascii_digit);
    std::size_t end = float_end(whole);
    const Type type = end != kNpos ? Type::kFloat : Type::kInteger;
    if (end == kNpos) end = integer_end(whole);
    std::string digits;
    for (const char c : text_.substr(at_, end - at_)) {
      if (c != '_') digits += c;
    }
    add(type, std::move(digits));
    advance_to(end);
  }

  std::size_t integer_end(std::size_t whole) const {
    if (text_[at_] != '0') return whole;
    const char base = at_ + 1 < text_.size() ? static_cast<char>(text_[at_ + 1] | 0x20) : '\0';
    bool (*is_digit)(char) = nullptr;
    if (base == 'x') {
      is_digit = [](char c) {
        return is_ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
      };
    } else if (base == 'o') {
      is_digit = [](char c) { return c >= '0' && c <= '7'; };
    } else if (base == 'b') {
      is_digit = [](char c) { return c == '0' || c == '1'; };
    }
    if (is_digit != nullptr) {
      const std::size_t end = digits_end(at_ + 2, is_digit);
      if (end > at_ + 2) return end;
    }
    return digits_end(at_ + 1, [](char c) { return c == '0'; });
  }

  void lex_name() {
    std::size_t end = at_;
    while (end < text_.size()) {
      std::size_t next = end;
      const char32_t c = next_code_point(text_, next);
      if (c != '_' && !is_alphanumeric(c)) break;
      end = next;
    }
    if (end == at_) fail("unexpected character");
    add(Type::kName, std::string(text_.substr(at_, end - at_)));
    advance_to(end);
  }

  void lex_string(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) fail("a string without its closing quote");
    add(Type::kString, unescape(text_.substr(at_ + 1, end - at_ - 1), place(name_, line_)));
    advance_to(end + 1);
  }

  void lex_operator() {
    static constexpr std::array<std::string_view, 26> kOperators = {
        "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view symbol : kOperators) {
      if (!starts_with(symbol)) continue;
      balance(symbol[0]);
      add(Type::kOperator, std::string(symbol));
      return advance_to(at_ + symbol.size());
    }
    fail(fmt::format("unexpected character '{}'", text_[at_]));
  }

  void balance(char c) {
    if (c == '(') brackets_ += ')';
    if (c == '[') brackets_ += ']';
    if (c == '{') brackets_ += '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (brackets_.empty()) fail(fmt::format("unexpected '{}'", c));
    if (brackets_.back() != c) {
      fail(fmt::format("unexpected '{}', expected '{}'", c, brackets_.back()));
    }
    brackets_.pop_back();
  }

  std::string source_;
  std::string_view text_;
  const std::string& name_;
  std::vector<Token> tokens_;
  std::string brackets_;  // those that close the open ones
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool line_starting_ = true;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& name) {
  if (const auto invalid = find_invalid_utf8(source)) {
    raise(ErrorCode::kMalformed, "[jinja] {}: invalid UTF-8 at byte {}", name, *invalid);
  }
  return Lexer(source, name).run();
}

std::string place(const std::string& name, std::uint32_t line) {
  return fmt::format("[jinja] {}:{}", name, line);
}

std::string describe(const Token& token) {
  switch (token.type) {
    case Type::kData:
      return "text";
    case Type::kVariableBegin:
      return "'{{'";
    case Type::kVariableEnd:
      return "'}}'";
    case Type::kBlockBegin:
      return "'{%'";
    case Type::kBlockEnd:
      return "'%}'";
    case Type::kString:
      return "a string";
    case Type::kEnd:
      return "the end of the template";
    default:
      return fmt::format("'{}'", token.text);
  }
}

}  // namespace lattice::jinja
