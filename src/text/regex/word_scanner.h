#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/regex/pattern.h"

namespace lattice::regex {

/// The choices in which the word-splitting expressions of byte-level models differ. They all are:
///   contractions | prefix? letters+ | digits | space? others+ newlines* | \s*[\r\n]+ |
///   \s+(?!\S) | \s+
struct WordRules {
  enum class Contractions : std::uint8_t { kLowercase, kAnyCase };
  /// Whether the character that may precede letters is a space, or any but CR, LF, letter, number.
  enum class Prefix : std::uint8_t { kSpace, kAnyOther };

  Contractions contractions = Contractions::kAnyCase;
  Prefix letter_prefix = Prefix::kAnyOther;
  bool marks_are_letters = false;   ///< letters are \p{L}\p{M}, and others exclude \p{M}
  bool number_takes_space = false;  ///< " ?" before a number
  std::uint32_t most_digits = 1;    ///< of one number; UINT32_MAX: any
  bool newlines = true;             ///< newlines behind others, and \s*[\r\n]+
};

/// The rules that do exactly what this regular expression does, if it is a known one.
std::optional<WordRules> find_word_rules(std::string_view regular_expression);

/// The word-splitting expression of GPT-2, built into the ByteLevel pre-tokenizer.
extern const std::string_view kGpt2Expression;

/// Runs word rules without a regular expression engine. Its matches cover every text.
class WordScanner final : public Pattern {
 public:
  explicit WordScanner(const WordRules& rules) : rules_(rules) {}

  void find_all(std::string_view subject, std::vector<ByteRange>& matches) const override;

 private:
  WordRules rules_;
};

}  // namespace lattice::regex
