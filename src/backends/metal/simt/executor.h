#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/metal/device.h"
#include "backends/metal/simt/abi.h"
#include "backends/metal/simt/fault.h"
#include "backends/metal/simt/fiber.h"
#include "backends/metal/simt/schedule.h"
#include "backends/metal/simt/shadow.h"
#include "backends/metal/simt/watchdog.h"

namespace lattice::metal::simt {

/// One dispatch of a kernel.
struct Launch {
  const KernelRow* kernel = nullptr;
  void* const* buffers = nullptr;
  Extent threadgroups;
  Extent threads;
  std::span<const Region> regions;  ///< all memory that the kernel may touch
  const Module* module = nullptr;
};

/// Runs kernels: one fiber per thread, one threadgroup after another. Checks that all threads of a
/// threadgroup meet at the same barriers, and those of a SIMD group at the same collective
/// operations, that it ends, and, for instrumented libraries, every access to memory. Not
/// thread-safe; a library's threadgroup memory is static, so one executor at a time may run it.
class Executor {
 public:
  /// A threadgroup that needs more CPU time than the limit is a fault.
  Executor(ScheduleKind kind, std::uint32_t seed, double seconds_per_threadgroup)
      : stacks_(kMaxThreadsPerThreadgroup),
        schedule_(kind, seed),
        seconds_per_threadgroup_(seconds_per_threadgroup) {}

  /// Runs the launch up to its end or its first fault. `*threadgroup` is the one that ran last.
  std::optional<Fault> run(const Launch& launch, Extent* threadgroup);

  /// What compiled libraries call.
  static const Runtime& runtime();

 private:
  enum class State : std::uint8_t { kReady, kAtBarrier, kAtCollective, kReturned };
  struct Thread {
    void* stack_pointer = nullptr;
    const Request* request = nullptr;  // what it waits at
    State state = State::kReady;
    Invocation invocation = {};
  };
  struct SimdGroup {
    std::uint32_t num_lanes = 0;
    std::uint32_t num_waiting = 0;     // at a collective operation
    std::uint32_t num_at_barrier = 0;  // of the threadgroup
    std::uint32_t num_returned = 0;
    std::uint32_t epochs[2] = {};  // per Space
    std::array<const Request*, kSimdWidth> lanes = {};
  };

  static void thread_main(void* argument);
  static void on_expired(const void* pc);
  void start_threadgroup(Extent position);
  void poison_threadgroup_memory();
  void arrive_at_barrier(const Request& request);
  void arrive_at_collective(const Request& request);
  void release_barrier();
  void resolve(SimdGroup& group, std::uint32_t first_thread);
  void thread_returned();
  void on_access(const char* address, std::uint32_t size, Access kind, const void* pc);
  void check_alignment(const void* address, std::uint32_t alignment, const void* pc);
  const Region* find_region(const char* address);
  bool is_harmless(const char* address, std::uint32_t size, Access kind) const;
  void yield();
  [[noreturn]] void fail_with(const Fault& fault);
  /// Ends the launch if its time is up.
  void check_time(const Place& here) {
    if (watchdog_->is_expired()) fail_with({.what = kStillRunning, .here = here});
  }
  void divergence(const char* what, const Request& request, std::uint32_t other);
  std::uint32_t waiting_thread(std::uint32_t begin, std::uint32_t end, State state) const;
  SimdGroup& own_group() { return groups_[current_ / kSimdWidth]; }

  static constexpr const char* kStillRunning = "still running when its time was up";
  FiberStacks stacks_;
  Schedule schedule_;
  double seconds_per_threadgroup_;
  Watchdog* watchdog_ = nullptr;  // of the launch
  const Launch* launch_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<SimdGroup> groups_;
  std::uint32_t current_ = 0;
  std::uint32_t num_at_barrier_ = 0;
  std::uint32_t num_returned_ = 0;
  std::uint32_t epochs_[2] = {};  // per Space
  std::uint32_t run_ = 0;
  std::uint32_t first_run_ = 0;
  std::size_t last_region_ = 0;
  void* main_ = nullptr;
  std::optional<Fault> fault_;
};

}  // namespace lattice::metal::simt
