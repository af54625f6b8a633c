#pragma once

#include <optional>
#include <string_view>

#include "text/jinja/object.h"

namespace lattice::jinja {

/// A field or method of the variable `loop`.
std::optional<Value> loop_field(const Value& loop, std::string_view name);
/// A field of a macro: name.
std::optional<Value> macro_field(const Macro& macro, std::string_view name);

}  // namespace lattice::jinja
