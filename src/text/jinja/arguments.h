#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "text/jinja/object.h"

namespace lattice::jinja {

/// The arguments of a builtin by parameter, as Python binds them. The CallArgs must outlive it.
class Bound {
 public:
  /// Errors: EvalError for a missing, unknown, repeated or surplus argument.
  Bound(std::string_view function, const CallArgs& args,
        std::initializer_list<std::string_view> parameters, std::size_t num_required = 0);

  bool has(std::size_t i) const { return values_[i] != nullptr; }
  /// Not given, or None.
  bool is_absent(std::size_t i) const { return !has(i) || values_[i]->is_none(); }
  const Value& at(std::size_t i) const { return *values_[i]; }
  Value get(std::size_t i, Value fallback) const { return has(i) ? at(i) : std::move(fallback); }

  // Errors: EvalError when the argument has another type.
  std::int64_t integer(std::size_t i, std::int64_t fallback) const;
  Text text(std::size_t i, std::string_view fallback) const;
  bool flag(std::size_t i, bool fallback) const;

 private:
  std::string_view function_;
  std::vector<const Value*> values_;
};

/// Errors: EvalError unless `value` is an int or bool.
std::int64_t require_integer(const Value& value);
/// Errors: EvalError unless `value` is a string.
const Text& require_text(const Value& value);

}  // namespace lattice::jinja
