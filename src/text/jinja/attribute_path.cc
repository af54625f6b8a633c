#include "text/jinja/attribute_path.h"

#include <algorithm>
#include <charconv>

#include "text/jinja/characters.h"
#include "text/jinja/subscript.h"
#include "text/jinja/text_search.h"

namespace lattice::jinja {

AttributePath::AttributePath(const Value& attribute) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  for (const Text& part : split(attribute.text(), ".", -1)) {
    const std::string_view bytes = part.bytes();
    std::int64_t index = 0;
    const auto end = std::from_chars(bytes.data(), bytes.data() + bytes.size(), index);
    const bool is_index = !bytes.empty() && bytes[0] != '-' && end.ec == std::errc() &&
                          end.ptr == bytes.data() + bytes.size();
    parts_.push_back(is_index ? Value(index) : Value(part));
  }
}

Value AttributePath::follow(const Value& value, Budget& budget, const Value& fallback) const {
  Value item = value;
  for (const Value& part : parts_) {
    item = get_item(item, part, budget);
    if (item.is_undefined() && !fallback.is_none()) item = fallback;
  }
  return item;
}

Value ignore_case(const Value& value, Budget& budget) {
  return value.is_string() ? Value(change_case(value.text(), LetterCase::kLower, budget)) : value;
}

}  // namespace lattice::jinja
