#pragma once

#include <cstdint>
#include <string>

#include "text/unicode/code_point_table.h"

/// What the front end needs to know of single characters. Every table reproduces what the pinned
/// `tokenizers` package does, seen by probing it over all code points: its parts follow different
/// versions of Unicode, so the same notion can have two tables here.
namespace lattice::unicode {

/// Bits of a code point's flags.
enum CodePointFlag : std::uint16_t {
  kWhiteSpace = 1 << 0,         ///< White_Space
  kNumeric = 1 << 1,            ///< Nd, Nl, No
  kPunctuation = 1 << 2,        ///< ASCII punctuation and P* (an old table)
  kRegexWord = 1 << 3,          ///< \w of the Whitespace pre-tokenizer and of single_word tokens
  kBertDropped = 1 << 4,        ///< what clean_text deletes: NUL, U+FFFD, C* but tab, CR and LF
  kBertChinese = 1 << 5,        ///< what handle_chinese_chars puts spaces around
  kMarkNonspacing = 1 << 6,     ///< Mn (an old table), deleted by BertNormalizer's strip_accents
  kCombiningMark = 1 << 7,      ///< M*, deleted by StripAccents
  kHasLowercase = 1 << 8,       ///< lowercase differs
  kHasCanonical = 1 << 9,       ///< canonical decomposition differs
  kHasCompatibility = 1 << 10,  ///< compatibility decomposition differs
  kNonStarter = 1 << 11,        ///< its decomposition starts with a combining class other than 0
  kNfcUnsafe = 1 << 12,         ///< may change, or change what precedes it, under NFC
  kNfkcUnsafe = 1 << 13,        ///< the same under NFKC
};

using FlagTable = CodePointTable<std::uint16_t>;

/// The flags of every code point. Built at the first call; fetch once per text, not per character.
const FlagTable& flag_table();

inline bool has_flag(char32_t c, CodePointFlag flag) { return (flag_table()[c] & flag) != 0; }

/// White space as Rust's char::is_whitespace and \s of its regular expressions see it.
inline bool is_white_space(char32_t c) { return has_flag(c, kWhiteSpace); }
/// \w of Rust's regular expressions.
inline bool is_regex_word(char32_t c) { return has_flag(c, kRegexWord); }

/// The simple lowercase of `c`. U+0130 alone has two characters, "i" and U+0307; of these, the
/// first.
char32_t to_lower(char32_t c);

}  // namespace lattice::unicode
