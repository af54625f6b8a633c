#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice::metal::simt {

/// Checks MSL as C++ for OpenCL, which has address spaces as MSL has them and refuses most of what
/// MSL refuses: missing or mixed address spaces, doubles, program-scope variables that are not
/// constant, function pointers, implicit vector conversions, functions that lattice does not use.
/// It does not see unqualified pointers to a thread's own memory, goto, recursion and lambdas,
/// which check_text_rules() does. Errors: kMalformed with the compiler's messages; kUnavailable
/// when the compiler cannot be run.
Result<void> lint(std::string_view source);

}  // namespace lattice::metal::simt
