#pragma once

#include <string>
#include <string_view>

#include "text/jinja/value.h"

namespace lattice::jinja {

/// str(value): what `{{ value }}` writes; undefined is empty.
Text to_text(const Value& value, Budget& budget);
void append_str(TextBuilder& out, const Value& value);
/// repr(value).
void append_repr(TextBuilder& out, const Value& value);

/// repr() of a float: the shortest digits that read back to it, as 1.0, 1e+16, inf or nan.
std::string float_repr(double number);

/// repr() of a name, for messages.
std::string quote(std::string_view text);

}  // namespace lattice::jinja
