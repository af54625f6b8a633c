#pragma once

#include "text/jinja/object.h"

namespace lattice::jinja {

/// format.format(*positional, **named). Errors: EvalError as Python's.
Text brace_format(const Text& format, const CallArgs& args, Budget& budget);

}  // namespace lattice::jinja
