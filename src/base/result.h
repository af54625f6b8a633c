#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "lattice/error.h"

namespace lattice {

/// A value, or the Error that prevented it. Used for everything that reads untrusted input.
template <typename T>
using Result = tl::expected<T, Error>;

/// Builds the failing side of a Result from a format string, as in
/// `return fail(ErrorCode::kMalformed, "[safetensors] {}: expected ..., got ...", path, n);`
template <typename... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Throws LatticeError with a formatted message.
template <typename... Args>
[[noreturn]] void raise(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw LatticeError(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Passes on another Result's error: `if (!r) return forward_error(r);`
template <typename T>
tl::unexpected<Error> forward_error(Result<T>& result) {
  return tl::make_unexpected(std::move(result.error()));
}

/// The value of `result`; throws LatticeError when it holds an error.
template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw LatticeError(std::move(result.error()));
  return std::move(*result);
}

inline void value_or_throw(const Result<void>& result) {
  if (!result) throw LatticeError(result.error());
}

}  // namespace lattice
