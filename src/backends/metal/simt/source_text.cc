#include "backends/metal/simt/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lattice::metal::simt {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// The end of the comment, string or preprocessor line at `at`; `at` if there is none.
std::size_t end_of_blank(std::string_view source, std::size_t at) {
  const auto after = [&](std::string_view mark, std::size_t from, std::size_t extra) {
    const std::size_t found = source.find(mark, from);
    return found == kNone ? source.size() : found + extra;
  };
  const std::string_view rest = source.substr(at);
  if (rest.starts_with("//")) return after("\n", at, 0);
  if (rest.starts_with("/*")) return after("*/", at + 2, 2);
  if (rest.starts_with('"')) return after("\"", at + 1, 1);
  if (rest.starts_with('#')) {
    std::size_t end = after("\n", at, 0);
    while (end < source.size() && source[end - 1] == '\\') end = after("\n", end + 1, 0);
    return end;
  }
  return at;
}

}  // namespace

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string blank_comments(std::string_view source) {
  std::string blanked(source);
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = end_of_blank(source, at);
    for (std::size_t i = at; i < end; ++i) {
      if (blanked[i] != '\n') blanked[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
  return blanked;
}

int line_of(std::string_view source, std::size_t offset) {
  return 1 + static_cast<int>(std::ranges::count(source.substr(0, offset), '\n'));
}

std::string place_of(std::string_view source, std::size_t offset) {
  constexpr std::string_view kDirective = "#line ";
  const std::size_t directive = source.substr(0, offset).rfind(kDirective);
  if (directive == kNone) return fmt::format("line {}", line_of(source, offset));
  std::string_view head = source.substr(directive + kDirective.size());
  const std::size_t length = head.find('\n');
  head = head.substr(0, length);
  int first_line = 0;
  std::from_chars(head.data(), head.data() + head.size(), first_line);
  const std::size_t name_begin = head.find('"') + 1;
  const std::string_view name = head.substr(name_begin, head.rfind('"') - name_begin);
  const std::size_t begin = directive + kDirective.size() + length + 1;
  const int line = first_line + line_of(source.substr(begin), offset - begin) - 1;
  return fmt::format("{}:{}", name, line);
}

std::size_t closing_bracket(std::string_view blanked, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < blanked.size(); ++i) {
    if (blanked[i] == '(' || blanked[i] == '[' || blanked[i] == '{') ++depth;
    if (blanked[i] == ')' || blanked[i] == ']' || blanked[i] == '}') --depth;
    if (depth == 0) return i;
  }
  return kNone;
}

std::size_t find_word(std::string_view blanked, std::string_view word, std::size_t from) {
  for (std::size_t at = blanked.find(word, from); at != kNone; at = blanked.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_word_char(blanked[at - 1]);
    const bool ends = end >= blanked.size() || !is_word_char(blanked[end]);
    if (starts && ends) return at;
  }
  return kNone;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && std::string_view("([{<").find(text[i]) != kNone) ++depth;
    if (i < text.size() && std::string_view(")]}>").find(text[i]) != kNone) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string_view part = trimmed(text.substr(begin, i - begin));
    if (!part.empty() || i < text.size()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

}  // namespace lattice::metal::simt
