#include "text/regex/scanner.h"

#include <fmt/format.h>

#include "text/regex/properties.h"

namespace lattice::regex {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Up to `most` digits of the base; nullopt if there is none.
std::optional<char32_t> digits(Scanner& scanner, int base, int most) {
  char32_t value = 0;
  int count = 0;
  for (; count < most; ++count) {
    const int digit = hex_digit(scanner.peek());
    if (digit < 0 || digit >= base) break;
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
    scanner.next();
  }
  if (count == 0) return std::nullopt;
  return value;
}

/// A code in braces, as in \x{1F600} or \o{101}.
char32_t braced_code(Scanner& scanner, int base) {
  const auto value = digits(scanner, base, 8);
  if (!value || !scanner.accept("}")) {
    scanner.malformed("a code point in braces");
    return 0;
  }
  return *value;
}

char32_t checked_code(Scanner& scanner, char32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    scanner.unsupported("a code that is no character");
    return 0;
  }
  return code;
}

/// \xHH, \x{H...}
char32_t hex_escape(Scanner& scanner) {
  if (scanner.accept("{")) return checked_code(scanner, braced_code(scanner, 16));
  const auto value = digits(scanner, 16, 2);
  if (!value) {
    scanner.unsupported("\\x without digits");
    return 0;
  }
  // Above ASCII the library takes these as single bytes of UTF-8.
  if (*value >= 0x80) scanner.unsupported("\\xHH above 7F (write \\x{HH})");
  return *value;
}

/// The set \p{name} outside or inside a bracket class. The library's word characters differ there.
std::optional<CodePointSet> contextual_property(std::string_view name, bool in_class) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return in_class && lower == "word" ? find_posix_class(lower) : find_property(name);
}

std::optional<CodePointSet> named_set(Scanner& scanner, bool negated, bool in_class) {
  const std::size_t start = scanner.offset();
  if (scanner.accept("^")) negated = !negated;
  std::string name;
  while (!scanner.at_end() && scanner.peek() != '}') append_utf8(name, scanner.next());
  if (!scanner.accept("}")) {
    scanner.malformed("a property without '}'");
    return CodePointSet();
  }
  auto set = contextual_property(name, in_class);
  if (!set) {
    scanner.fail_at(start, ErrorCode::kUnsupported, fmt::format("the property \"{}\"", name));
    return CodePointSet();
  }
  return negated ? set->complement() : *set;
}

/// [:name:] or [:^name:]; nullopt without progress when it is not of that form.
std::optional<CodePointSet> posix_bracket(Scanner& scanner) {
  const std::size_t start = scanner.offset();
  if (!scanner.accept("[:")) return std::nullopt;
  const bool negated = scanner.accept("^");
  std::string name;
  while (scanner.peek() >= 'a' && scanner.peek() <= 'z') append_utf8(name, scanner.next());
  if (!scanner.accept(":]")) {
    scanner.rewind(start);
    return std::nullopt;
  }
  const auto set = find_posix_class(name);
  if (!set) {
    scanner.fail_at(start, ErrorCode::kMalformed, fmt::format("the class [:{}:]", name));
    return CodePointSet();
  }
  return negated ? set->complement() : *set;
}

constexpr int kMaxClassDepth = 32;

/// The inside of a class: operands of && in turn, each a union of items.
class ClassParser {
 public:
  ClassParser(Scanner& scanner, int depth) : scanner_(scanner), depth_(depth) {}

  /// Up to and including ']'; `negated` tells whether it began with '^'.
  CodePointSet parse(bool& negated) {
    if (depth_ > kMaxClassDepth) scanner_.unsupported("classes nested more than 32 deep");
    negated = scanner_.accept("^");
    if (scanner_.accept("]")) add_character(U']');
    CodePointSet result = CodePointSet::all();
    while (!scanner_.failed()) {
      if (scanner_.at_end()) {
        scanner_.malformed("a class without ']'");
        break;
      }
      if (scanner_.accept("]")) break;
      if (scanner_.accept("&&")) {
        result = result.intersection(set_);
        set_ = CodePointSet();
        last_ = Last::kNone;
        continue;
      }
      parse_item();
    }
    return result.intersection(set_);
  }

 private:
  enum class Last { kNone, kCharacter, kSet, kRange };

  void add_set(const CodePointSet& set) {
    set_.add(set);
    last_ = Last::kSet;
  }
  void add_character(char32_t c) {
    set_.add(c, c);
    last_ = Last::kCharacter;
    character_ = c;
  }

  void parse_item() {
    if (auto posix = posix_bracket(scanner_)) return add_set(*posix);
    if (scanner_.accept("[")) {
      bool negated = false;
      const CodePointSet inner = ClassParser(scanner_, depth_ + 1).parse(negated);
      return add_set(negated ? inner.complement() : inner);
    }
    if (scanner_.sees("-")) return parse_dash();
    if (scanner_.accept("\\")) {
      if (auto set = parse_set_escape(scanner_, true)) return add_set(*set);
      return add_character(class_escape());
    }
    add_character(scanner_.next());
  }

  char32_t class_escape() {
    return scanner_.accept("b") ? U'\b' : parse_character_escape(scanner_);
  }

  /// A range if it stands between two characters; itself at either end of the class, or right
  /// behind a range.
  void parse_dash() {
    scanner_.accept("-");
    if (last_ == Last::kNone || last_ == Last::kRange || scanner_.sees("]") ||
        scanner_.sees("&&")) {
      return add_character(U'-');
    }
    if (last_ == Last::kSet || scanner_.sees("["))
      return scanner_.malformed("a range with a class");
    if (scanner_.at_end()) return;
    char32_t end = 0;
    if (scanner_.accept("\\")) {
      if (parse_set_escape(scanner_, true)) return scanner_.malformed("a range with a class");
      end = class_escape();
    } else {
      end = scanner_.next();
    }
    if (end < character_) return scanner_.malformed("an empty range");
    set_.add(character_, end);
    last_ = Last::kRange;
  }

  Scanner& scanner_;
  int depth_;
  CodePointSet set_;
  Last last_ = Last::kNone;
  char32_t character_ = 0;
};

}  // namespace

void Scanner::fail_at(std::size_t offset, ErrorCode code, std::string_view what) {
  if (error_) return;
  const std::string_view reason =
      code == ErrorCode::kUnsupported ? "is not supported" : "is not valid";
  error_ = Error{code, fmt::format("regular expression \"{}\": {} at byte {} {}", pattern_, what,
                                   offset, reason)};
  at_ = pattern_.size();
}

std::optional<unsigned> Scanner::number() {
  const auto value = digits(*this, 10, 6);
  if (!value) return std::nullopt;
  return static_cast<unsigned>(*value);
}

std::optional<CodePointSet> parse_set_escape(Scanner& scanner, bool in_class) {
  if (scanner.accept("p{")) return named_set(scanner, false, in_class);
  if (scanner.accept("P{")) return named_set(scanner, true, in_class);
  struct Escape {
    std::string_view letter;
    std::string_view name;
    bool negated;
  };
  constexpr Escape kEscapes[] = {
      {"w", "word", false},  {"W", "word", true},  {"s", "space", false},  {"S", "space", true},
      {"d", "digit", false}, {"D", "digit", true}, {"h", "xdigit", false}, {"H", "xdigit", true}};
  for (const Escape& escape : kEscapes) {
    if (!scanner.accept(escape.letter)) continue;
    const CodePointSet set = contextual_property(escape.name, in_class).value_or(CodePointSet());
    return escape.negated ? set.complement() : set;
  }
  return std::nullopt;
}

char32_t parse_character_escape(Scanner& scanner) {
  if (scanner.at_end()) {
    scanner.malformed("a backslash at the end");
    return 0;
  }
  const std::size_t start = scanner.offset();
  const char32_t c = scanner.next();
  switch (c) {
    case U't':
      return U'\t';
    case U'n':
      return U'\n';
    case U'r':
      return U'\r';
    case U'f':
      return U'\f';
    case U'v':
      return U'\v';
    case U'a':
      return U'\a';
    case U'e':
      return U'\x1B';
    case U'x':
      return hex_escape(scanner);
    case U'u':
      if (const auto value = digits(scanner, 16, 4); value && scanner.offset() == start + 5) {
        return checked_code(scanner, *value);
      }
      scanner.malformed("\\u without four digits");
      return 0;
    case U'0': {
      scanner.rewind(start);
      return digits(scanner, 8, 3).value_or(0);
    }
    default:
      break;
  }
  const bool letter_or_digit =
      (c >= U'0' && c <= U'9') || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
  if (letter_or_digit) {
    std::string name = "the escape \\";
    append_utf8(name, c);
    scanner.fail_at(start - 1, ErrorCode::kUnsupported, name);
  }
  return c;
}

CodePointSet parse_class(Scanner& scanner, bool ignore_case) {
  const std::size_t start = scanner.offset();
  bool negated = false;
  CodePointSet set = ClassParser(scanner, 0).parse(negated);
  if (ignore_case && !scanner.failed()) {
    close_over_case(set);
    for (const auto& fold : unicode::case_data().multiple_folds) {
      if (negated || !set.contains(fold.code_point)) continue;
      scanner.fail_at(start, ErrorCode::kUnsupported,
                      "a class with ignored case and characters that match several");
    }
  }
  return negated ? set.complement() : set;
}

}  // namespace lattice::regex
