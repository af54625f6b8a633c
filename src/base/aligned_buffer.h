#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace lattice {

/// What allocate_aligned() aligns to, at least.
inline constexpr std::size_t kBufferAlignment = 64;

/// Uninitialised memory, aligned to 64 bytes (a cache line, one AVX-512 vector); large blocks start
/// on a huge page and ask the system for such pages: streaming through weights otherwise waits for
/// page tables, and processors do not prefetch beyond a page. Throws std::bad_alloc. Free it with
/// free_aligned().
void* allocate_aligned(std::size_t num_bytes);
void free_aligned(void* memory) noexcept;

/// Owns an uninitialised array of trivial T from allocate_aligned(). Move-only.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Throws std::bad_alloc when memory is short.
  explicit AlignedBuffer(std::size_t size)
      : data_(static_cast<T*>(allocate_aligned(size * sizeof(T)))), size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { free_aligned(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

/// Raw storage seen as an array of a trivial type, which needs no construction. The storage is
/// aligned for T, as AlignedBuffer and Workspace make it.
template <typename T>
  requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
T* storage_cast(std::byte* storage) {
  return reinterpret_cast<T*>(storage);
}
template <typename T>
  requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
const T* storage_cast(const std::byte* storage) {
  return reinterpret_cast<const T*>(storage);
}

}  // namespace lattice
