#pragma once

namespace lattice {

/// The library's version, for example "0.1.0". A static string.
const char* version() noexcept;

}  // namespace lattice
