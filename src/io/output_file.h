#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace lattice {

/// A file open for writing: every short write, full disk and failed close becomes an Error that
/// names the file. Unbuffered. Move-only; not thread-safe. The destructor closes without reporting.
class OutputFile {
 public:
  enum class Mode {
    kCreateNew,  ///< fails when the file exists
    kTruncate,   ///< starts from an empty file
    kKeep,       ///< keeps what is there; created when absent
  };

  /// Opens a regular file. Errors: kIo; kInvalidArgument when `path` is a directory or device.
  static Result<OutputFile> open(const std::filesystem::path& path, Mode mode);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  const std::filesystem::path& path() const { return path_; }

  /// Writes at the current position. Errors: kIo.
  Result<void> write(std::span<const std::byte> bytes);
  /// Writes at `offset` without moving the current position. Errors: kIo.
  Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Cuts or extends the file to `size` bytes and continues writing at its end. Errors: kIo.
  Result<void> resize(std::uint64_t size);
  /// Makes what was written survive a power failure. Errors: kIo.
  Result<void> sync();
  /// Closes; nothing else may be called afterwards. Errors: kIo (some file systems report a full
  /// disk only now).
  Result<void> close();

 private:
  OutputFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  tl::unexpected<Error> failure(const char* action) const;

  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace lattice
