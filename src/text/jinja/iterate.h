#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "text/jinja/value.h"

namespace lattice::jinja {

/// Walks over the items of a value, as Python's iter() does: characters of a string, keys of a
/// dict.
class Cursor {
 public:
  Cursor() = default;
  /// Errors: EvalError when `source` cannot be iterated.
  explicit Cursor(Value source);

  /// Puts the next item into `item`, or returns false at the end.
  bool next(Value& item);

 private:
  Value source_;
  std::size_t at_ = 0;
};

bool is_iterable(const Value& value);
/// len(value), when the value has a length.
std::optional<std::size_t> size_of(const Value& value);
/// The values of a view, a range or a sequence by position; `index` must be below size_of.
Value view_item(const DictView& view, std::size_t index);
Value range_item(const Range& range, std::size_t index);

/// All items of an iterable, each counted as a step.
std::vector<Value> to_items(const Value& value, Budget& budget);
/// An iterator over the items of a value from the last to the first.
/// Errors: EvalError when the value has no order to reverse.
Value reversed(const Value& value, Budget& budget);

}  // namespace lattice::jinja
