#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace lattice {

/// A read-only memory mapping of a whole regular file. Move-only; share it as
/// std::shared_ptr<const MappedFile>. All methods are safe to call from several threads.
class MappedFile {
 public:
  /// Maps `path` without reading it. Errors: kNotFound, kIo, kMalformed (not a regular file).
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// The file's bytes; empty for an empty file.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

  /// Tells the system that `range` (inside bytes()) will not be needed soon: its resident pages are
  /// given back, and a later read faults them in again. Only whole pages inside the range are given
  /// back. A hint: never fails.
  void discard_pages(std::span<const std::byte> range) const noexcept;

 private:
  MappedFile(std::filesystem::path path, const std::byte* data, std::size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}

  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lattice
