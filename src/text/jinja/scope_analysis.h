#pragma once

#include "text/jinja/ast.h"

namespace lattice::jinja {

/// Fills in the `unset` names of every scope: those that are undefined until the scope sets them,
/// even if the context or a function has that name. As in jinja2, which gives names to places when
/// it compiles, a scope owns a name that it sets before it reads it, unless only some branches of
/// an if set it or a scope around it knows the name.
void analyze_scopes(Program& program);

}  // namespace lattice::jinja
