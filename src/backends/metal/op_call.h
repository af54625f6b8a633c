#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/metal/device.h"
#include "ops/matrix.h"

namespace lattice::metal {

/// Runs one kernel on matrices in host memory: copies its inputs to shared buffers, without gaps
/// between rows (stride = cols), and its outputs back. Indices are those of [[buffer(index)]].
/// Throws LatticeError as the device says, and kTooLong for a matrix of 2^32 elements or more,
/// which kernels could not index.
class OpCall {
 public:
  OpCall(Device& device, const Pipeline& pipeline);

  void read(std::uint32_t index, ConstMatrix matrix);
  template <typename T>
  void read(std::uint32_t index, std::span<const T> values) {
    bind(index, std::as_bytes(values));
  }
  /// A buffer that is already on the device.
  void bind(std::uint32_t index, Buffer& buffer) { commands_->set_buffer(index, buffer, 0); }
  /// What the kernel declares but does not touch with these arguments.
  void bind_nothing(std::uint32_t index) { bind(index, std::span<const std::byte>()); }
  /// `matrix` gets the kernel's results; its elements go in as well if `is_input`.
  void write(std::uint32_t index, MutMatrix matrix, bool is_input = false);
  template <typename T>
  void value(std::uint32_t index, const T& params) {
    set_value(*commands_, index, params);
  }

  /// Runs the kernel and copies the results back.
  void run(Extent threadgroups, Extent threads);

 private:
  struct Output {
    Buffer* buffer;
    MutMatrix matrix;
  };
  Buffer& make_buffer(std::size_t num_bytes);
  void bind(std::uint32_t index, std::span<const std::byte> bytes);

  Device& device_;
  std::unique_ptr<Commands> commands_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Output> outputs_;
};

/// Threads for a loop over `size` elements: whole SIMD groups, at most 256.
std::uint32_t threads_for(std::int64_t size);

/// `value` as a kernel argument; throws LatticeError(kTooLong) if it does not fit.
std::uint32_t to_uint(std::int64_t value);

/// How many blocks of `block` cover `count`.
inline std::uint32_t blocks_of(std::int64_t count, std::int64_t block) {
  return to_uint((count + block - 1) / block);
}

}  // namespace lattice::metal
