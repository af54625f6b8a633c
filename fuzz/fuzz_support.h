#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace lattice {

/// Stops the fuzzer (a finding) when a property does not hold.
inline void fuzz_check(bool condition) {
  if (!condition) __builtin_trap();
}

/// The fuzzer's input as text.
inline std::string_view fuzz_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Keeps the reads of `bytes` from being optimised away, so that the sanitizer sees each one.
inline void fuzz_touch(const void* data, std::size_t size) {
  const volatile auto* bytes = static_cast<const volatile unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) static_cast<void>(bytes[i]);
}

/// A file with the given content, for code that takes paths: in memory where the system can do
/// that.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) {
    open();
    fuzz_check(fd_ >= 0);
    while (!content.empty()) {
      const ssize_t written = ::write(fd_, content.data(), content.size());
      fuzz_check(written > 0);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(); }

  const std::filesystem::path& path() const { return path_; }

 private:
#if defined(__linux__)
  void open() {
    fd_ = ::memfd_create("fuzz", MFD_CLOEXEC);
    path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  void close() { ::close(fd_); }
#else
  void open() {
    std::string name = (std::filesystem::temp_directory_path() / "fuzzXXXXXX").string();
    fd_ = ::mkstemp(name.data());
    path_ = name;
  }
  void close() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
#endif

  int fd_ = -1;
  std::filesystem::path path_;
};

}  // namespace lattice
