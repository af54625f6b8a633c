#pragma once

#include <string>
#include <string_view>

#include "text/jinja/ast.h"

namespace lattice::jinja {

/// Parses a template. `name` prefixes messages. Errors: LatticeError(kMalformed), and kUnsupported
/// for a tag, filter or test that does not exist here; a filter or test inside an if is only looked
/// for when it is reached, as in jinja2.
Program parse_program(std::string_view source, const std::string& name);

}  // namespace lattice::jinja
