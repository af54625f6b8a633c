#include "text/jinja/text_search.h"

#include <string.h>  // memmem

#include <algorithm>

#include "text/jinja/characters.h"
#include "text/utf8.h"

namespace lattice::jinja {
namespace {

// The start of the code point that ends at `end`.
std::size_t previous(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (is_utf8_continuation(text[end]));
  return end;
}

bool space_at(std::string_view text, std::size_t at) { return is_space(next_code_point(text, at)); }

}  // namespace

std::size_t find_bytes(std::string_view text, std::string_view needle, std::size_t from) {
  if (from > text.size()) return kNotFound;
  if (needle.empty()) return from;
  const std::string_view rest = text.substr(from);
  const void* found = ::memmem(rest.data(), rest.size(), needle.data(), needle.size());
  if (found == nullptr) return kNotFound;
  return from + static_cast<std::size_t>(static_cast<const char*>(found) - rest.data());
}

Text replace(const Text& text, const Text& old, const Text& with, std::int64_t count,
             Budget& budget) {
  budget.step_bytes(text.size() + old.size());
  TextBuilder out(budget);
  const std::string_view bytes = text.bytes();
  std::size_t at = 0;
  if (old.empty()) {
    // Between all characters, and at both ends.
    for (; count != 0; --count) {
      out.append(with);
      budget.step();
      if (at == bytes.size()) break;
      const std::size_t end = at + utf8_length(bytes[at]);
      out.append(text, at, end);
      at = end;
    }
    out.append(text, at, text.size());
    return out.take();
  }
  for (; count != 0; --count) {
    const std::size_t found = find_bytes(bytes, old.bytes(), at);
    if (found == kNotFound) break;
    out.append(text, at, found);
    out.append(with);
    budget.step();
    at = found + old.size();
  }
  if (at == 0) return text;
  out.append(text, at, text.size());
  return out.take();
}

std::vector<Text> split(const Text& text, std::string_view separator, std::int64_t count) {
  std::vector<Text> parts;
  std::size_t at = 0;
  for (; count != 0; --count) {
    const std::size_t found = find_bytes(text.bytes(), separator, at);
    if (found == kNotFound) break;
    parts.push_back(text.slice_bytes(at, found));
    at = found + separator.size();
  }
  parts.push_back(text.slice_bytes(at, text.size()));
  return parts;
}

std::vector<Text> split_right(const Text& text, std::string_view separator, std::int64_t count) {
  std::vector<Text> parts;
  std::size_t end = text.size();
  for (; count != 0; --count) {
    const std::size_t found = text.bytes().substr(0, end).rfind(separator);
    if (found == kNotFound) break;
    parts.push_back(text.slice_bytes(found + separator.size(), end));
    end = found;
  }
  parts.push_back(text.slice_bytes(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Text> split_spaces(const Text& text, std::int64_t count) {
  std::vector<Text> parts;
  const std::string_view bytes = text.bytes();
  std::size_t at = 0;
  while (true) {
    while (at < bytes.size() && space_at(bytes, at)) at += utf8_length(bytes[at]);
    if (at == bytes.size()) return parts;
    if (count-- == 0) break;
    const std::size_t begin = at;
    while (at < bytes.size() && !space_at(bytes, at)) at += utf8_length(bytes[at]);
    parts.push_back(text.slice_bytes(begin, at));
  }
  parts.push_back(text.slice_bytes(at, text.size()));
  return parts;
}

std::vector<Text> split_spaces_right(const Text& text, std::int64_t count) {
  std::vector<Text> parts;
  const std::string_view bytes = text.bytes();
  std::size_t end = bytes.size();
  while (true) {
    while (end > 0 && space_at(bytes, previous(bytes, end))) end = previous(bytes, end);
    if (end == 0) break;
    if (count-- == 0) {
      parts.push_back(text.slice_bytes(0, end));
      break;
    }
    const std::size_t stop = end;
    while (end > 0 && !space_at(bytes, previous(bytes, end))) end = previous(bytes, end);
    parts.push_back(text.slice_bytes(end, stop));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Text> split_lines(const Text& text, bool keep_ends) {
  std::vector<Text> lines;
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t stop = at;
    const char32_t c = next_code_point(bytes, at);
    if (!is_line_break(c)) continue;
    if (c == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
    lines.push_back(text.slice_bytes(begin, keep_ends ? at : stop));
    begin = at;
  }
  if (begin < bytes.size()) lines.push_back(text.slice_bytes(begin, bytes.size()));
  return lines;
}

Text strip(const Text& text, Side side, const Text* characters) {
  const std::string_view bytes = text.bytes();
  const auto is_stripped = [&](std::size_t at) {
    if (characters == nullptr) return space_at(bytes, at);
    return characters->bytes().find(bytes.substr(at, utf8_length(bytes[at]))) != kNotFound;
  };
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  if (side != Side::kRight) {
    while (begin < end && is_stripped(begin)) begin += utf8_length(bytes[begin]);
  }
  if (side != Side::kLeft) {
    while (end > begin && is_stripped(previous(bytes, end))) end = previous(bytes, end);
  }
  return text.slice_bytes(begin, end);
}

}  // namespace lattice::jinja
