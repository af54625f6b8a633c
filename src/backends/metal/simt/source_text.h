#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lattice::metal::simt {

/// MSL with comments, strings and preprocessor lines replaced by spaces, character for character.
std::string blank_comments(std::string_view source);

/// The line of `offset`, counted from 1.
int line_of(std::string_view source, std::size_t offset);

/// "norm.metal:12": where `offset` is by the #line directives of the source.
std::string place_of(std::string_view source, std::size_t offset);

/// The offset of the bracket that closes the one at `open`, or npos.
std::size_t closing_bracket(std::string_view blanked, std::size_t open);

/// Where the word `word` stands at or after `from`, or npos.
std::size_t find_word(std::string_view blanked, std::string_view word, std::size_t from = 0);

/// `text` without white space at both ends.
std::string_view trimmed(std::string_view text);

/// The parts of `text` between commas outside all brackets, trimmed; none for blank text.
std::vector<std::string_view> split_arguments(std::string_view text);

/// Whether `c` can be part of a name.
bool is_word_char(char c);

}  // namespace lattice::metal::simt
