#pragma once

#include <cstddef>

namespace lattice::metal::simt {

/// Stacks for fibers: `count` of them, each with an inaccessible page below, kept for reuse. A
/// fiber is a stack and the saved stack pointer of code that runs on it; whoever holds the pointer
/// can go on there with switch_fiber(). Not thread-safe.
class FiberStacks {
 public:
  explicit FiberStacks(std::size_t count);
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  /// A stack pointer which, when switched to, calls function(argument) on stack `index`. The
  /// function must never return.
  void* prepare(std::size_t index, void (*function)(void*), void* argument) const;
  /// Whether `address` lies on stack `index`.
  bool contains(std::size_t index, const void* address) const;

 private:
  std::byte* stack(std::size_t index) const { return memory_ + index * kStride; }

  static constexpr std::size_t kGuard = 4096;
  static constexpr std::size_t kStride = kGuard + (std::size_t{1} << 16);
  std::size_t count_;
  std::byte* memory_;
};

/// Saves the running fiber in *from and goes on in `to`; returns when something switches back.
extern "C" void lattice_simt_switch(void** from, void* to);

}  // namespace lattice::metal::simt
