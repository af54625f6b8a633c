#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lattice {
namespace {

// Longer than the serial gap between two ops of a forward pass, shorter than a scheduler slice.
constexpr std::chrono::microseconds kSpinTime{20};

// Threads of all live pools, callers included: what decides whether spinning can steal a core.
std::atomic<std::size_t> num_live_threads{0};

thread_local bool inside_parallel_region = false;

class ParallelRegion {
 public:
  ParallelRegion() { inside_parallel_region = true; }
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;
  ~ParallelRegion() { inside_parallel_region = false; }
};

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool cores_are_free() {
  static const std::size_t num_cores =
      std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return num_live_threads.load(std::memory_order_relaxed) <= num_cores;
}

// Returns when `value` is no longer `old`, with acquire order.
std::uint32_t await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  constexpr int kPausesPerLook = 16;
  if (cores_are_free()) {
    const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
    do {
      for (int i = 0; i < kPausesPerLook; ++i) {
        const std::uint32_t now = value.load(std::memory_order_acquire);
        if (now != old) return now;
        pause_core();
      }
    } while (std::chrono::steady_clock::now() < deadline);
  }
  std::uint32_t now = value.load(std::memory_order_acquire);
  while (now == old) {
    value.wait(old, std::memory_order_acquire);
    now = value.load(std::memory_order_acquire);
  }
  return now;
}

}  // namespace

struct ThreadPool::Impl {
  // One worker's mailbox, on its own cache line. The worker runs the job once per new ticket.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> ticket{0};
    std::exception_ptr error;
  };

  explicit Impl(std::size_t count) : num_threads(count), slots(count) {
    num_live_threads.fetch_add(num_threads, std::memory_order_relaxed);
    workers.reserve(num_threads - 1);
    try {
      for (std::size_t t = 1; t < num_threads; ++t) {
        workers.emplace_back([this, t] { work(t); });
      }
    } catch (...) {  // the system refused a thread: end those already started
      stop_workers();
      throw;
    }
  }

  void stop_workers() {
    stopping.store(true, std::memory_order_relaxed);
    for (std::size_t t = 1; t <= workers.size(); ++t) wake(t);
    for (std::thread& worker : workers) worker.join();
    num_live_threads.fetch_sub(num_threads, std::memory_order_relaxed);
  }

  void wake(std::size_t thread_idx) {
    slots[thread_idx].ticket.fetch_add(1, std::memory_order_release);
    slots[thread_idx].ticket.notify_one();
  }

  void work(std::size_t thread_idx) {
    std::uint32_t seen = 0;
    while (true) {
      seen = await_change(slots[thread_idx].ticket, seen);
      if (stopping.load(std::memory_order_relaxed)) return;
      run_share(thread_idx);
      if (num_pending.fetch_sub(1, std::memory_order_acq_rel) == 1) num_pending.notify_one();
    }
  }

  void run_share(std::size_t thread_idx) {
    const ParallelRegion region;
    try {
      const std::size_t end = num_tasks * (thread_idx + 1) / num_sharers;
      for (std::size_t i = num_tasks * thread_idx / num_sharers; i < end; ++i) {
        (*task)(i, thread_idx);
      }
    } catch (...) {
      slots[thread_idx].error = std::current_exception();
    }
  }

  // The caller holds `callers`.
  void run(std::size_t count, const TaskRef& job) {
    task = &job;
    num_tasks = count;
    num_sharers = std::min(num_threads, count);
    num_pending.store(static_cast<std::uint32_t>(num_sharers - 1), std::memory_order_relaxed);
    for (std::size_t t = 1; t < num_sharers; ++t) wake(t);
    run_share(0);
    std::uint32_t left = num_pending.load(std::memory_order_acquire);
    while (left != 0) left = await_change(num_pending, left);
    std::exception_ptr first;
    for (std::size_t t = 0; t < num_sharers; ++t) {
      std::exception_ptr error = std::exchange(slots[t].error, nullptr);
      if (!first) first = std::move(error);
    }
    if (first) std::rethrow_exception(first);
  }

  const std::size_t num_threads;
  std::mutex callers;  // held by the caller whose job the workers run
  const TaskRef* task = nullptr;
  std::size_t num_tasks = 0;
  std::size_t num_sharers = 0;
  alignas(64) std::atomic<std::uint32_t> num_pending{0};
  std::atomic<bool> stopping{false};
  std::vector<Slot> slots;
  std::vector<std::thread> workers;
};

ThreadPool::ThreadPool(std::size_t num_threads)
    : impl_(std::make_unique<Impl>(num_threads == 0 ? usable_num_threads() : num_threads)) {}

ThreadPool::~ThreadPool() { impl_->stop_workers(); }

std::size_t ThreadPool::num_threads() const { return impl_->num_threads; }

void ThreadPool::parallel_for(std::size_t num_tasks, TaskRef task) {
  if (num_tasks > 1 && impl_->num_threads > 1 && !inside_parallel_region) {
    const std::unique_lock<std::mutex> lock(impl_->callers, std::try_to_lock);
    if (lock.owns_lock()) return impl_->run(num_tasks, task);
  }
  for (std::size_t i = 0; i < num_tasks; ++i) task(i, 0);
}

}  // namespace lattice
