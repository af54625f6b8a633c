#include "text/jinja/text_layout.h"

#include <algorithm>

namespace lattice::jinja {
namespace {

std::size_t missing(const Text& text, std::int64_t width) {
  const auto length = static_cast<std::int64_t>(text.length());
  return width > length ? static_cast<std::size_t>(width - length) : 0;
}

Text padded(const Text& text, std::size_t before, std::size_t after, const Text& fill,
            Budget& budget) {
  if (fill.length() != 1) eval_fail("the fill character must be exactly one character long");
  if (before + after == 0) return text;
  TextBuilder out(budget);
  out.pad(before, fill);
  out.append(text);
  out.pad(after, fill);
  return out.take();
}

}  // namespace

Text center(const Text& text, std::int64_t width, const Text& fill, Budget& budget) {
  const std::size_t total = missing(text, width);
  // As CPython does: an odd blank goes left when the width is odd.
  const std::size_t before = total / 2 + (total & static_cast<std::size_t>(width) & 1);
  return padded(text, before, total - before, fill, budget);
}

Text justify_left(const Text& text, std::int64_t width, const Text& fill, Budget& budget) {
  return padded(text, 0, missing(text, width), fill, budget);
}

Text justify_right(const Text& text, std::int64_t width, const Text& fill, Budget& budget) {
  return padded(text, missing(text, width), 0, fill, budget);
}

Text fill_zeros(const Text& text, std::int64_t width, Budget& budget) {
  const bool has_sign = !text.empty() && (text.bytes()[0] == '+' || text.bytes()[0] == '-');
  TextBuilder out(budget);
  if (has_sign) out.append(text, 0, 1);
  out.pad(missing(text, width), '0');
  out.append(text, has_sign ? 1 : 0, text.size());
  return out.take();
}

Text expand_tabs(const Text& text, std::int64_t tab_size, Budget& budget) {
  TextBuilder out(budget);
  const std::string_view bytes = text.bytes();
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(tab_size, 0));
  std::size_t column = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = text.byte_of(text.index_of(at) + 1);
    if (bytes[at] == '\t') {
      const std::size_t blanks = size == 0 ? 0 : size - column % size;
      out.pad(blanks);
      column += blanks;
    } else {
      out.append(text, at, end);
      column = bytes[at] == '\n' || bytes[at] == '\r' ? 0 : column + 1;
    }
    at = end;
  }
  return out.take();
}

}  // namespace lattice::jinja
