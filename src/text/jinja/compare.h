#pragma once

#include <compare>
#include <cstddef>
#include <string_view>

#include "text/jinja/value.h"

namespace lattice::jinja {

// Python's comparisons. Their cost is the smaller weight() of the two values, which callers count.

/// a == b: numbers by value (1 == 1.0 == true), sequences of one type item by item.
bool equal(const Value& a, const Value& b);

/// How `a` and `b` are ordered; unordered for NaN. Errors: EvalError for types that have no order,
/// naming `op`.
std::partial_ordering order(const Value& a, const Value& b, std::string_view op = "<");

/// Whether a dict can have it as a key.
bool is_hashable(const Value& value);
/// Equal for equal values. The value must be hashable.
std::size_t hash_value(const Value& value);

/// bool(value).
bool truthy(const Value& value);

/// item in container. Errors: EvalError when there is no such question.
bool contains(const Value& container, const Value& item, Budget& budget);

}  // namespace lattice::jinja
