#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice::metal {

/// Threads or threadgroups along x, y and z.
struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

/// The threadgroup memory that every Apple GPU has, in bytes.
inline constexpr std::uint32_t kMaxThreadgroupBytes = 32768;
/// The threads of a threadgroup that no device exceeds; a pipeline's own limit may be lower.
inline constexpr std::uint32_t kMaxThreadsPerThreadgroup = 1024;
/// Threads of a SIMD group. A device with another width is refused.
inline constexpr std::uint32_t kSimdWidth = 32;

/// Memory that host and device share. Must outlive the commands that use it; the host may touch it
/// only while no committed commands are running.
class Buffer {
 public:
  virtual ~Buffer() = default;
  /// To read and to write. Throws LatticeError(kInternal) for a read-only buffer.
  virtual std::span<std::byte> contents() = 0;
  virtual std::size_t num_bytes() const = 0;
  /// Whether it is memory that Device::wrap_memory() was given, which kernels must not write to.
  virtual bool is_read_only() const = 0;
};

/// MSL source, compiled. Immutable and safe to share between threads.
class Library {
 public:
  virtual ~Library() = default;
};

/// One kernel of a library, ready to run. Immutable and safe to share between threads.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  virtual std::string_view name() const = 0;
  /// Larger threadgroups are refused when commands are committed.
  virtual std::uint32_t max_threads_per_threadgroup() const = 0;
  /// Static threadgroup memory in bytes.
  virtual std::uint32_t threadgroup_bytes() const = 0;
};

/// A list of dispatches that run in order, each seeing what the earlier ones wrote. Bindings stay
/// until they are replaced. Not thread-safe.
class Commands {
 public:
  virtual ~Commands() = default;
  /// `pipeline` and all buffers must live until commit_and_wait() returned.
  virtual void set_pipeline(const Pipeline& pipeline) = 0;
  /// Binds `buffer` from byte `offset` on to [[buffer(index)]].
  virtual void set_buffer(std::uint32_t index, Buffer& buffer, std::size_t offset) = 0;
  /// Copies a small constant (at most 4 KiB) for [[buffer(index)]].
  virtual void set_bytes(std::uint32_t index, std::span<const std::byte> bytes) = 0;
  virtual void dispatch(Extent threadgroups, Extent threads_per_threadgroup) = 0;
  /// Runs everything encoded so far and empties the list. Errors: kUnavailable when the device
  /// failed, kInternal when a dispatch breaks a limit or misses a binding.
  virtual Result<void> commit_and_wait() = 0;
};

/// A GPU, or what executes its kernels in tests. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  /// For reports: "Apple M2", "simt".
  virtual std::string name() const = 0;
  /// Uninitialised shared memory. Errors: kUnavailable when there is none left.
  virtual Result<std::unique_ptr<Buffer>> make_buffer(std::size_t num_bytes) = 0;
  /// A read-only buffer over `bytes` where they are; null where this device would have to copy
  /// them. They must not change; `owner` keeps them mapped for as long as the buffer lives. A
  /// kernel sees them at their own alignment, which must be that of the elements it reads.
  virtual std::unique_ptr<Buffer> wrap_memory(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner) = 0;
  /// Compiles MSL. Errors: kInternal with the compiler's messages, at the latest when a pipeline is
  /// made.
  virtual Result<std::unique_ptr<Library>> compile(std::string_view source) = 0;
  /// The kernel `name` of `library`. Errors: kInternal when there is none or when it needs more
  /// threadgroup memory than kMaxThreadgroupBytes.
  virtual Result<std::unique_ptr<Pipeline>> make_pipeline(const Library& library,
                                                          std::string_view name) = 0;
  virtual std::unique_ptr<Commands> make_commands() = 0;
};

/// Binds a trivially copyable argument struct to [[buffer(index)]].
template <typename T>
void set_value(Commands& commands, std::uint32_t index, const T& value) {
  commands.set_bytes(index, std::as_bytes(std::span<const T, 1>(&value, 1)));
}

}  // namespace lattice::metal
