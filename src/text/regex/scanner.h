#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/regex/code_point_set.h"
#include "text/utf8.h"

namespace lattice::regex {

/// Reads a pattern character by character and keeps the first error.
class Scanner {
 public:
  explicit Scanner(std::string_view pattern) : pattern_(pattern) {}

  bool at_end() const { return at_ >= pattern_.size(); }
  std::size_t offset() const { return at_; }
  void rewind(std::size_t offset) { at_ = offset; }

  /// Whether `text` comes next.
  bool sees(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  /// Moves past `text` if it comes next.
  bool accept(std::string_view text) {
    if (!sees(text)) return false;
    at_ += text.size();
    return true;
  }
  /// The next character, which there must be.
  char32_t next() { return next_code_point(pattern_, at_); }
  char peek() const { return at_end() ? '\0' : pattern_[at_]; }

  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  void fail_at(std::size_t offset, ErrorCode code, std::string_view what);
  void unsupported(std::string_view what) { fail_at(at_, ErrorCode::kUnsupported, what); }
  void malformed(std::string_view what) { fail_at(at_, ErrorCode::kMalformed, what); }

  /// A decimal number of up to six digits; nullopt (and no progress) if there is none.
  std::optional<unsigned> number();

 private:
  std::string_view pattern_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

/// An escape that stands for a set (\w \W \s \S \d \D \h \H, \p{...}, \P{...}) with its backslash
/// already read: the set, or nullopt without progress for other escapes. Inside a bracket class, \w
/// is the library's [:word:], which lacks a few numbers that it has outside.
std::optional<CodePointSet> parse_set_escape(Scanner& scanner, bool in_class);

/// An escape that stands for one character (\n, \x{41}, \u0041, \. ...), its backslash already
/// read. Anything else is an error.
char32_t parse_character_escape(Scanner& scanner);

/// A bracket class, its '[' already read, up to and including its ']'. With `ignore_case`, closed
/// over case as the library does it: the whole class, before its negation.
CodePointSet parse_class(Scanner& scanner, bool ignore_case);

}  // namespace lattice::regex
