#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace lattice {

/// The largest header accepted, in bytes: the cap of the reference implementation. It holds about
/// 1.2 million tensors; a model with more is split into shards.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// The most dimensions a tensor may have.
inline constexpr std::size_t kMaxSafetensorsRank = 64;

/// One tensor of a safetensors file, checked against the file: its bytes lie inside it.
struct SafetensorsEntry {
  std::string name;
  std::string dtype_name;      ///< as the file spells it
  std::optional<DType> dtype;  ///< nothing when lattice has no such type (F8_E4M3, U16, F4, ...)
  Shape shape;
  std::uint64_t begin = 0;  ///< offset in the file, in bytes
  std::uint64_t end = 0;    ///< one past the last byte
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< by position in the file, then by name
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Checks the header of a safetensors file given as its bytes; `path` names it in messages. On
/// success every entry has an element count that fits std::int64_t, byte ranges are contiguous and
/// disjoint, together they fill the file to its last byte, and dtype x shape equals the range's
/// length (entries of an unknown dtype have only their range checked). Errors: kMalformed,
/// "[safetensors] <path>: tensor "<name>": expected ..., got ... (byte <offset in the file>)".
/// Source: https://huggingface.co/docs/safetensors (format).
Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   const std::string& path);

}  // namespace lattice
