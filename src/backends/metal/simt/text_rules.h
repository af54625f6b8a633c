#pragma once

#include <string_view>

#include "base/result.h"

namespace lattice::metal::simt {

/// Checks rules of MSL and of this project's kernels that no compiler at hand checks: threadgroup
/// arrays first in a kernel and nowhere else, one attribute per parameter, an address space at
/// every pointer and reference, no recursion, goto or lambda, float literals, no infinities or NaN
/// tests (fast math may remove them), none of the forms that need rewriting. Errors: kMalformed
/// with one line per broken rule.
Result<void> check_text_rules(std::string_view source);

}  // namespace lattice::metal::simt
