#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace lattice {

struct SafetensorsEntry;
struct SafetensorsHeader;

/// One safetensors file, memory-mapped. Tensors are views of the mapping (nothing is copied) and
/// share its ownership, so they may outlive this object; their data may be unaligned. Copies are
/// cheap; all methods are const and thread-safe. The file must not be truncated by another process
/// while it is mapped.
class SafetensorsFile {
 public:
  /// Maps `path` and checks its header completely, before any tensor can be formed. A tensor whose
  /// dtype lattice lacks does not prevent opening: asking for it does fail. Tensors that the file's
  /// metadata declares as Q8_0 are kQ8_0 of their logical shape. Errors: kNotFound, kIo, kMalformed
  /// (see parse_safetensors_header and apply_q8_0_metadata).
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  bool contains(std::string_view name) const;

  /// The tensor called `name`, or nothing when the file has none. Errors: kUnsupported when its
  /// dtype is not one of DType.
  Result<std::optional<Tensor>> find(std::string_view name) const;

  /// Like find(), but a missing tensor is kNotFound.
  Result<Tensor> require(std::string_view name) const;

  /// All tensor names, in the order of their data in the file.
  std::vector<std::string> names() const;

  /// The file's `__metadata__`, for example {"format": "pt"}.
  const std::map<std::string, std::string, std::less<>>& metadata() const;

  /// Bytes of all tensors together: the file without its header.
  std::uint64_t data_bytes() const;

  const std::filesystem::path& path() const;

 private:
  struct State;
  explicit SafetensorsFile(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace lattice
