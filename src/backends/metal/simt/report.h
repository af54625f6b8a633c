#pragma once

#include <string>

#include "backends/metal/device.h"
#include "backends/metal/simt/compiler.h"
#include "backends/metal/simt/fault.h"

namespace lattice::metal::simt {

/// A fault in words: kernel, threadgroup, thread, place in the source, and the other side of a
/// conflict. Program counters are looked up in the library's line table, which runs a program.
std::string describe_fault(const Fault& fault, std::string_view kernel, Extent threadgroup,
                           const LoadedModule& library);

}  // namespace lattice::metal::simt
