#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lattice {

/// How the elements of files and packed weights are stored. kQ8_0 is rows of blocks of 32 elements
/// (tensor/q8_0.h); the others are one element after the other.
enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool, kQ8_0 };

/// Bytes of one element; 0 for kQ8_0, whose elements share the bytes of a block.
std::size_t dtype_size(DType dtype);

/// Bytes of a row of `num_elements` elements; kQ8_0 rounds up to whole blocks. Callers have checked
/// that it fits.
std::size_t row_bytes(DType dtype, std::size_t num_elements);

/// Whether elements are numbers that a weight may have: F64, F32, F16, BF16 or Q8_0.
bool is_floating_point(DType dtype);

/// The safetensors spelling: "F32", "BF16", "I64", "BOOL", ...; "Q8_0", which safetensors lacks.
std::string_view dtype_name(DType dtype);

/// The inverse of dtype_name for the spellings of safetensors; nothing for any other.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace lattice
