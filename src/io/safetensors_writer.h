#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "io/output_file.h"
#include "tensor/tensor.h"

namespace lattice {

/// A tensor to write: kQ8_0 is declared in the metadata (io/q8_0_metadata.h), any other dtype as
/// safetensors spells it.
struct SafetensorsItem {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;  ///< logical

  std::uint64_t num_bytes() const;
};

/// Writes a safetensors file front to back: the header from what the tensors will be, then their
/// bytes as they come. Nothing is buffered. Move-only; not thread-safe. Source:
/// https://huggingface.co/docs/safetensors (format).
class SafetensorsWriter {
 public:
  using Metadata = std::map<std::string, std::string, std::less<>>;

  /// Creates the file, which must not exist, with a header for `items` in the order of their data.
  /// Sizes are those of existing tensors, hence fit. Errors: kIo.
  static Result<SafetensorsWriter> create(const std::filesystem::path& path,
                                          std::span<const SafetensorsItem> items,
                                          Metadata metadata);

  /// The next bytes of the tensors' data. Errors: kIo.
  Result<void> write(std::span<const std::byte> bytes);

  /// Syncs to disk and closes; nothing else may be called afterwards. Errors: kIo; kInternal when
  /// the tensors are not complete.
  Result<void> finish();

 private:
  SafetensorsWriter(OutputFile file, std::uint64_t missing_bytes)
      : file_(std::move(file)), missing_bytes_(missing_bytes) {}

  OutputFile file_;
  std::uint64_t missing_bytes_;
};

}  // namespace lattice
