#pragma once

#include <span>

#include "text/jinja/object.h"

namespace lattice::jinja {

/// The methods of strings, those of Python's str.
std::span<const MethodEntry> string_methods();

}  // namespace lattice::jinja
