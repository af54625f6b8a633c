#pragma once

#include <optional>
#include <vector>

#include "text/jinja/value.h"

namespace lattice::jinja {

/// What the attribute argument of filters names: "a.b.0" for value["a"]["b"][0]; None for the value
/// itself.
class AttributePath {
 public:
  AttributePath() = default;
  explicit AttributePath(const Value& attribute);

  /// Follows the path; `fallback`, if not None, replaces what is undefined on the way.
  Value follow(const Value& value, Budget& budget, const Value& fallback = None{}) const;

 private:
  std::vector<Value> parts_;
};

/// Strings in lower case, other values as they are.
Value ignore_case(const Value& value, Budget& budget);

}  // namespace lattice::jinja
