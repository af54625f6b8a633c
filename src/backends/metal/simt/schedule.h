#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace lattice::metal::simt {

/// In which order the ready threads of a threadgroup run.
enum class ScheduleKind {
  kFifo,      ///< whoever became ready first
  kPriority,  ///< the favoured SIMD group runs as far as it can; drawn anew at each barrier
};

/// The ready threads of one threadgroup. A thread that waits at a barrier is not ready. The
/// priority order is the one that finds missing barriers: an order that interleaves threads evenly
/// gives each little chance to overtake another by far.
class Schedule {
 public:
  Schedule(ScheduleKind kind, std::uint32_t seed) : kind_(kind), random_(seed) {}

  /// Forgets all threads and makes 0 .. num_threads - 1 ready.
  void start(std::uint32_t num_threads);
  void push(std::uint32_t thread);
  /// The next thread to run, or -1.
  std::int32_t pop();
  /// Draws new priorities.
  void redraw();

 private:
  std::int32_t pop_favoured();

  ScheduleKind kind_;
  std::mt19937 random_;
  std::vector<std::uint32_t> queue_;  // FIFO, a ring
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> order_;     // SIMD groups, the favoured one first
  std::array<std::uint32_t, 32> ready_;  // lanes of each SIMD group
  bool last_lane_first_ = false;
};

}  // namespace lattice::metal::simt
