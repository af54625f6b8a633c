#pragma once

#include <cstddef>
#include <span>

namespace lattice::metal::simt {

/// Memory with a wide inaccessible range on both sides, so that an index far out of bounds never
/// lands in another buffer. Filled with 0xFF, which is NaN as a number.
class GuardedMemory {
 public:
  /// Throws LatticeError(kUnavailable) when there is no memory.
  explicit GuardedMemory(std::size_t num_bytes);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::span<std::byte> bytes() const { return {memory_ + kGuard, num_bytes_}; }

 private:
  std::size_t reserved() const;

  static constexpr std::size_t kGuard = std::size_t{1} << 28;
  std::size_t num_bytes_;
  std::byte* memory_;
};

}  // namespace lattice::metal::simt
