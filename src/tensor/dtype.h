#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lattice {

/// The element types that files and packed weights may have.
enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };

/// Bytes of one element.
std::size_t dtype_size(DType dtype);

/// The safetensors spelling: "F32", "BF16", "I64", "BOOL", ...
std::string_view dtype_name(DType dtype);

/// The inverse of dtype_name; nothing for an unknown spelling.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace lattice
