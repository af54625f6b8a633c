#pragma once

#include <cstdint>

namespace lattice {

/// The most memory that this process has had resident so far, in bytes.
std::uint64_t peak_resident_bytes();

}  // namespace lattice
