#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice::metal::simt {

/// `source` with empty bodies for all kernels but `name`; lines keep their numbers. Errors:
/// kMalformed as for parse_kernels(), kInternal if there is no such kernel.
Result<std::string> keep_kernel(std::string_view source, std::string_view name);

/// A translation unit for clang with the kernels of `source`, an entry for each and the table that
/// the host reads (abi.h). Lines keep their numbers. Only two things change in the text itself:
/// threadgroup arrays become static ones in a section that the host finds, since a plain array
/// would be private to each thread. Errors: kMalformed as for parse_kernels().
Result<std::string> translate(std::string_view source);

}  // namespace lattice::metal::simt
