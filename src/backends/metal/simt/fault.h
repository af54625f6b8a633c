#pragma once

#include <cstdint>
#include <optional>

#include "backends/metal/simt/abi.h"

namespace lattice::metal::simt {

/// One thread at one place: in the source if `site` is set, else at a program counter.
struct Place {
  std::uint32_t thread = 0;
  std::optional<Site> site = std::nullopt;
  const void* pc = nullptr;
  const char* doing = "";  ///< "simd_sum", "write", ...
};

/// What a kernel did wrong. Plain, since it is filled in on a fiber that then never runs again; the
/// strings are literals or belong to the library.
struct Fault {
  const char* what = "";
  Place here = {};
  std::optional<Place> other = std::nullopt;  ///< the other side of a conflict
  const char* memory = nullptr;               ///< name of the buffer or array
  std::int64_t offset = 0;                    ///< bytes into it
  std::uint64_t memory_bytes = 0;
};

}  // namespace lattice::metal::simt
