#include "io/atomic_directory.h"

#include <system_error>
#include <utility>

#include "io/temporary_name.h"

namespace lattice {

namespace fs = std::filesystem;

Result<AtomicDirectory> AtomicDirectory::create(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) {
      return fail(ErrorCode::kInvalidArgument, "{}: expected a directory to make, got a file",
                  target.string());
    }
    if (!fs::is_empty(target, error) || error) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: the directory exists and is not empty; name another, or remove it",
                  target.string());
    }
  }
  const fs::path path = temporary_sibling(target);
  if (!fs::create_directory(path, error)) {
    return fail(ErrorCode::kIo, "{}: cannot make the directory {}: {}", target.string(),
                path.string(), error.message());
  }
  return AtomicDirectory(target, path);
}

AtomicDirectory::AtomicDirectory(AtomicDirectory&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::move(other.path_)),
      pending_(std::exchange(other.pending_, false)) {}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (pending_) fs::remove_all(path_, ignored);
}

Result<void> AtomicDirectory::commit() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_, error)) {
    if (entry.is_directory(error)) try_sync_directory(entry.path());
  }
  try_sync_directory(path_);
  fs::rename(path_, target_, error);
  if (error) {
    return fail(ErrorCode::kIo, "{}: cannot rename {} to it: {}", target_.string(), path_.string(),
                error.message());
  }
  pending_ = false;
  try_sync_directory(directory_of(target_));
  return {};
}

}  // namespace lattice
