#pragma once

#include <span>
#include <string_view>

namespace lattice::metal {

/// One file of MSL, as it was when the program was built.
struct MslPart {
  std::string_view name;  ///< "norm.metal"
  std::string_view text;
};

/// The files of src/backends/metal/kernels, in the order in which they form one source.
std::span<const MslPart> msl_parts();

}  // namespace lattice::metal
