#include "io/atomic_file.h"

#include <system_error>
#include <utility>

#include "io/temporary_name.h"

namespace lattice {

namespace fs = std::filesystem;

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!path.has_filename() || (fs::exists(status) && !fs::is_regular_file(status))) {
    return fail(ErrorCode::kInvalidArgument, "{}: expected a regular file to replace",
                path.string());
  }
  auto file = OutputFile::open(temporary_sibling(path), OutputFile::Mode::kCreateNew);
  if (!file) return forward_error(file);
  return AtomicFile(path, std::move(*file));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      file_(std::move(other.file_)),
      pending_(std::exchange(other.pending_, false)) {}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (pending_) fs::remove(file_.path(), ignored);
}

Result<void> AtomicFile::commit() {
  if (auto status = file_.sync(); !status) return status;
  if (auto status = file_.close(); !status) return status;
  std::error_code error;
  fs::rename(file_.path(), target_, error);
  if (error) {
    return fail(ErrorCode::kIo, "{}: cannot rename {} to it: {}", target_.string(),
                file_.path().string(), error.message());
  }
  pending_ = false;
  try_sync_directory(directory_of(target_));
  return {};
}

Result<void> write_file_atomically(const fs::path& path, std::string_view content) {
  auto file = AtomicFile::create(path);
  if (!file) return forward_error(file);
  if (auto status = file->write(std::as_bytes(std::span(content))); !status) return status;
  return file->commit();
}

}  // namespace lattice
