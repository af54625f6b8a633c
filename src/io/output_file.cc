#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lattice {

namespace {

// Of one call: macOS refuses 2 GiB and more.
constexpr std::size_t kMaxWrite = std::size_t{1} << 30;

int open_flags(OutputFile::Mode mode) {
  // Never waits for the other end of a pipe; the type of file is checked afterwards.
  constexpr int kCommon = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK;
  switch (mode) {
    case OutputFile::Mode::kCreateNew:
      return kCommon | O_EXCL;
    case OutputFile::Mode::kTruncate:
      return kCommon | O_TRUNC;
    case OutputFile::Mode::kKeep:
      break;
  }
  return kCommon;
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::filesystem::path& path, Mode mode) {
  const int fd = ::open(path.c_str(), open_flags(mode), 0666);
  if (fd < 0) {
    const int error = errno;
    return fail(error == EISDIR ? ErrorCode::kInvalidArgument : ErrorCode::kIo,
                "{}: cannot open for writing: {}", path.string(), std::strerror(error));
  }
  OutputFile file(path, fd);
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return file.failure("stat");
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: expected a regular file to write to",
                path.string());
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

tl::unexpected<Error> OutputFile::failure(const char* action) const {
  return fail(ErrorCode::kIo, "{}: cannot {}: {}", path_.string(), action, std::strerror(errno));
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite));
    if (written < 0) {
      if (errno == EINTR) continue;
      return failure("write");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return failure("write");
    }
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::resize(std::uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return failure("resize");
  if (::lseek(fd_, static_cast<off_t>(size), SEEK_SET) < 0) return failure("seek");
  return {};
}

Result<void> OutputFile::sync() {
  if (::fsync(fd_) != 0) return failure("sync");
  return {};
}

Result<void> OutputFile::close() {
  // On Linux the descriptor is gone even when close reports an error: never close it twice.
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) return failure("close");
  return {};
}

}  // namespace lattice
