#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/result.h"
#include "io/output_file.h"

namespace lattice {

/// Replaces a file in one step: the content is written to a temporary file of a unique name in the
/// same directory, synced to disk and renamed, so that readers and a crash see the old file or the
/// new one, never a part. Without commit() the temporary file is removed and the target untouched.
/// A symbolic link at the target is replaced, not followed. Move-only; not thread-safe, but any
/// number of threads and processes may replace the same target: the last commit wins.
class AtomicFile {
 public:
  /// Errors: kIo; kInvalidArgument when `path` exists and is not a regular file.
  static Result<AtomicFile> create(const std::filesystem::path& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Appends to the content. Errors: kIo.
  Result<void> write(std::span<const std::byte> bytes) { return file_.write(bytes); }

  /// Makes the content the target's; nothing else may be called afterwards. Errors: kIo.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path target, OutputFile file)
      : target_(std::move(target)), file_(std::move(file)) {}

  std::filesystem::path target_;
  OutputFile file_;
  bool pending_ = true;  // the temporary file exists and is ours
};

/// Replaces the content of `path` by `content`. Errors: see AtomicFile.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace lattice
