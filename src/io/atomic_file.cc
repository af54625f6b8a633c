#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <system_error>
#include <utility>

namespace lattice {

namespace fs = std::filesystem;

namespace {

/// A name that no other thread, process or earlier crashed process uses.
std::string temporary_name() {
  static std::atomic<unsigned> counter = 0;
  std::random_device random;
  return fmt::format(".lattice-{}-{}-{:08x}.tmp", ::getpid(), counter++, random());
}

fs::path directory_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

/// Makes a rename survive a power failure. Some file systems cannot sync directories: the rename
/// itself has happened, so that is no error.
void sync_directory(const fs::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!path.has_filename() || (fs::exists(status) && !fs::is_regular_file(status))) {
    return fail(ErrorCode::kInvalidArgument, "{}: expected a regular file to replace",
                path.string());
  }
  auto file = OutputFile::open(directory_of(path) / temporary_name(), OutputFile::Mode::kCreateNew);
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
  sync_directory(directory_of(target_));
  return {};
}

Result<void> write_file_atomically(const fs::path& path, std::string_view content) {
  auto file = AtomicFile::create(path);
  if (!file) return forward_error(file);
  if (auto status = file->write(std::as_bytes(std::span(content))); !status) return status;
  return file->commit();
}

}  // namespace lattice
