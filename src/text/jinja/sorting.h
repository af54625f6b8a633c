#pragma once

#include <vector>

#include "text/jinja/value.h"

namespace lattice::jinja {

/// An item and what it is sorted by.
struct Keyed {
  Value key, item;
};

/// The items in the order of their keys, equal ones as they were (also when reversed).
/// Errors: EvalError when keys have no order.
std::vector<Value> sorted(std::vector<Keyed> items, bool reverse, Budget& budget);

}  // namespace lattice::jinja
