#include "tensor/dtype.h"

#include <array>

#include "tensor/q8_0.h"

namespace lattice {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<DTypeRow, 11> kDTypes = {{
    {DType::kF64, "F64", 8},
    {DType::kF32, "F32", 4},
    {DType::kF16, "F16", 2},
    {DType::kBF16, "BF16", 2},
    {DType::kI64, "I64", 8},
    {DType::kI32, "I32", 4},
    {DType::kI16, "I16", 2},
    {DType::kI8, "I8", 1},
    {DType::kU8, "U8", 1},
    {DType::kBool, "BOOL", 1},
    {DType::kQ8_0, "Q8_0", 0},
}};

}  // namespace

std::size_t dtype_size(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].size; }

std::size_t row_bytes(DType dtype, std::size_t num_elements) {
  if (dtype != DType::kQ8_0) return num_elements * dtype_size(dtype);
  return static_cast<std::size_t>(num_q8_blocks(static_cast<std::int64_t>(num_elements))) *
         sizeof(Q8WeightBlock);
}

bool is_floating_point(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
    case DType::kQ8_0:
      return true;
    default:
      return false;
  }
}

std::string_view dtype_name(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name && row.dtype != DType::kQ8_0) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace lattice
