#pragma once

#include "base/result.h"

namespace lattice {

/// Enforces an invariant of our own code: a false `condition` is a bug in lattice, never a fault of
/// the input. Throws LatticeError(kInternal), so that a server survives a bug in one request.
template <typename... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]] {
    raise(ErrorCode::kInternal, format, std::forward<Args>(args)...);
  }
}

}  // namespace lattice
