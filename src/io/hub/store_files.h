#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice {

/// An owned file descriptor. Move-only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// Closes now. Returns the error of close(2), which may be the first report of a failed write.
  Result<void> close(const std::filesystem::path& path);

 private:
  int fd_ = -1;
};

/// An exclusive advisory lock on a file, held until destruction; the system drops it when the
/// process dies. Move-only.
class FileLock {
 public:
  /// Takes the lock without waiting, creating the file (and its directory) if needed. Errors:
  /// kUnavailable when another process holds it, kIo.
  static Result<FileLock> try_acquire(const std::filesystem::path& path);

 private:
  explicit FileLock(FileDescriptor fd) : fd_(std::move(fd)) {}
  FileDescriptor fd_;
};

/// kIo for a failed system call: "<path>: cannot <action>: <reason>".
/// A full disk is said in so many words.
Error system_error(const std::filesystem::path& path, std::string_view action, int error_number);

/// Creates `path` and its parents. Errors: kIo.
Result<void> make_directories(const std::filesystem::path& path);

/// Flushes a directory's entries to the disk, so that a rename survives a power cut.
Result<void> sync_directory(const std::filesystem::path& path);

/// The whole content of a small file. Errors: kNotFound, kIo, kMalformed beyond `max_bytes`.
Result<std::string> read_small_file(const std::filesystem::path& path, std::size_t max_bytes);

/// `prefix` followed by this process's id and random digits.
std::string unique_name(std::string_view prefix);

}  // namespace lattice
