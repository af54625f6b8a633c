#pragma once

#include <string_view>

#include "text/jinja/object.h"
#include "text/jinja/value.h"

namespace lattice::jinja {

/// value.name: a method or field first, then an item. What is not there is undefined.
/// Errors: EvalError for an undefined value.
Value get_attribute(const Value& value, std::string_view name, Budget& budget);

/// The method or field `name` alone, not an item.
Value get_own_attribute(const Value& value, std::string_view name, Budget& budget);

/// value[key]: an item first, then, for a string, a method or field. What is not there is
/// undefined. Errors: EvalError for an undefined value.
Value get_item(const Value& value, const Value& key, Budget& budget);

/// The method `name` of a value's type, or nullptr. Defined with the methods.
const MethodEntry* find_method(Value::Kind kind, std::string_view name);

}  // namespace lattice::jinja
