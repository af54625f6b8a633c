#pragma once

#include <string_view>

#include "text/jinja/object.h"

namespace lattice::jinja {

/// A filter: value|name(args).
struct FilterEntry {
  std::string_view name;
  Value (*code)(Evaluator&, const Value& input, const CallArgs&);
};

/// A test: value is name(args).
struct TestEntry {
  std::string_view name;
  bool (*code)(Evaluator&, const Value& input, const CallArgs&);
};

/// The filter, test or function called `name`, or nullptr.
const FilterEntry* find_filter(std::string_view name);
const TestEntry* find_test(std::string_view name);
const Value* find_function(std::string_view name);

}  // namespace lattice::jinja
