#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/jinja/text.h"

namespace lattice::jinja {

inline constexpr std::size_t kNotFound = std::string_view::npos;

/// The first place at or after `from` where `needle` occurs, in time linear in both; kNotFound
/// otherwise. Valid UTF-8 matches valid UTF-8 between code points only.
std::size_t find_bytes(std::string_view text, std::string_view needle, std::size_t from);

/// text.replace(old, with, count); every occurrence when `count` is negative.
Text replace(const Text& text, const Text& old, const Text& with, std::int64_t count,
             Budget& budget);

/// text.split(separator, count) and text.rsplit(separator, count); the separator is not empty.
std::vector<Text> split(const Text& text, std::string_view separator, std::int64_t count);
std::vector<Text> split_right(const Text& text, std::string_view separator, std::int64_t count);
/// The same at runs of white space.
std::vector<Text> split_spaces(const Text& text, std::int64_t count);
std::vector<Text> split_spaces_right(const Text& text, std::int64_t count);
/// text.splitlines(keep_ends).
std::vector<Text> split_lines(const Text& text, bool keep_ends);

enum class Side { kLeft, kRight, kBoth };
/// text.strip(): without the white space, or the characters of `characters`, at its sides.
Text strip(const Text& text, Side side, const Text* characters);

}  // namespace lattice::jinja
