#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/aligned_buffer.h"
#include "ops/matrix.h"

namespace lattice {

/// A stack of scratch memory. Allocations are 64-byte aligned and uninitialised; they are given
/// back together when the Scope that was opened before them ends. Memory grows in blocks and is
/// kept, so a repeated pass of the same size allocates nothing. Not thread-safe.
class Workspace {
 public:
  /// Gives back, at the end of its life, everything allocated since its beginning.
  class Scope {
   public:
    explicit Scope(Workspace& workspace)
        : workspace_(workspace), block_(workspace.block_), used_(workspace.used_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      workspace_.block_ = block_;
      workspace_.used_ = used_;
    }

   private:
    Workspace& workspace_;
    std::size_t block_;
    std::size_t used_;
  };

  std::byte* allocate(std::size_t num_bytes);
  std::span<float> floats(std::int64_t count) { return array<float>(count); }
  /// Uninitialised elements of a type that needs no construction.
  template <typename T>
    requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
  std::span<T> array(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    return {storage_cast<T>(allocate(size * sizeof(T))), size};
  }
  /// [rows, cols] with stride = cols.
  MutMatrix matrix(std::int64_t rows, std::int64_t cols);

  /// Bytes held.
  std::size_t capacity() const;

  /// Frees everything when more than `limit` bytes are held; call it outside any Scope. Keeps one
  /// huge request from pinning its memory for ever.
  void trim(std::size_t limit);

 private:
  std::vector<AlignedBuffer<std::byte>> blocks_;
  std::size_t block_ = 0;  // the block being filled
  std::size_t used_ = 0;   // bytes used of it
};

}  // namespace lattice
