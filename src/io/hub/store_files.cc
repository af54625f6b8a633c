#include "io/hub/store_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

namespace lattice {

namespace fs = std::filesystem;

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> FileDescriptor::close(const fs::path& path) {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) {
    return tl::make_unexpected(system_error(path, "close", errno));
  }
  return {};
}

Error system_error(const fs::path& path, std::string_view action, int error_number) {
  if (error_number == ENOSPC || error_number == EDQUOT) {
    return {ErrorCode::kIo, fmt::format("{}: cannot {}: the disk is full", path.string(), action)};
  }
  return {ErrorCode::kIo, fmt::format("{}: cannot {}: {}", path.string(), action,
                                      std::system_category().message(error_number))};
}

Result<FileLock> FileLock::try_acquire(const fs::path& path) {
  if (auto made = make_directories(path.parent_path()); !made) return forward_error(made);
  FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.valid()) return tl::make_unexpected(system_error(path, "open", errno));
  int result = 0;
  do {
    result = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK) {
    return fail(ErrorCode::kUnavailable, "{}: another process holds the lock", path.string());
  }
  if (result != 0) return tl::make_unexpected(system_error(path, "lock", errno));
  return FileLock(std::move(fd));
}

Result<void> make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return tl::make_unexpected(system_error(path, "create the directory", error.value()));
  }
  return {};
}

Result<void> sync_directory(const fs::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return tl::make_unexpected(system_error(path, "open", errno));
  // Some file systems cannot sync a directory; their renames are as safe as they get.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    return tl::make_unexpected(system_error(path, "sync", errno));
  }
  return {};
}

Result<std::string> read_small_file(const fs::path& path, std::size_t max_bytes) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    Error error = system_error(path, "open", errno);
    if (errno == ENOENT) error.code = ErrorCode::kNotFound;
    return tl::make_unexpected(std::move(error));
  }
  std::string content;
  std::array<char, 1 << 14> buffer;
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::make_unexpected(system_error(path, "read", errno));
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > max_bytes) {
      return fail(ErrorCode::kMalformed, "{}: more than the limit of {} bytes", path.string(),
                  max_bytes);
    }
  }
}

std::string unique_name(std::string_view prefix) {
  std::random_device random;
  return fmt::format("{}.{}-{:08x}", prefix, ::getpid(), random());
}

}  // namespace lattice
