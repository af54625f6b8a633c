#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace lattice {

/// Owns an uninitialised array of trivial T, aligned to 64 bytes (a cache line, one AVX-512
/// vector). Move-only.
template <typename T>
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  /// Throws std::bad_alloc when memory is short.
  explicit AlignedBuffer(std::size_t size)
      : data_(static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{kAlignment}))),
        size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }
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
