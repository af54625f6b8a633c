#pragma once

#include <filesystem>

#include "base/result.h"

namespace lattice {

/// Makes a directory in one step: its files are written into a temporary one of a unique name
/// beside it, which is then renamed, so that the directory exists complete or not at all. Without
/// commit() the temporary directory and everything in it is removed. Move-only; not thread-safe.
class AtomicDirectory {
 public:
  /// `target` may exist as an empty directory; its parent must exist. Errors: kInvalidArgument when
  /// `target` is anything else that exists; kIo.
  static Result<AtomicDirectory> create(const std::filesystem::path& target);

  AtomicDirectory(AtomicDirectory&& other) noexcept;
  AtomicDirectory& operator=(AtomicDirectory&&) = delete;
  ~AtomicDirectory();

  /// Where the files go until commit().
  const std::filesystem::path& path() const { return path_; }

  /// Renames; the files must be synced and closed. Nothing else may be called afterwards. Errors:
  /// kIo, also when somebody else filled the target meanwhile.
  Result<void> commit();

 private:
  AtomicDirectory(std::filesystem::path target, std::filesystem::path path)
      : target_(std::move(target)), path_(std::move(path)) {}

  std::filesystem::path target_;
  std::filesystem::path path_;
  bool pending_ = true;  // the temporary directory exists and is ours
};

}  // namespace lattice
