#pragma once

#include <concepts>
#include <cstddef>
#include <memory>

namespace lattice {

/// A reference to a callable void(task_idx, thread_idx): unlike std::function it never allocates.
/// The callable must outlive the call that it is passed to, as a lambda in the argument list does.
class TaskRef {
 public:
  template <std::invocable<std::size_t, std::size_t> Callable>
    requires(!std::same_as<Callable, TaskRef>)
  TaskRef(const Callable& callable)  // implicit: call sites pass lambdas
      : callable_(&callable), invoke_([](const void* object, std::size_t task, std::size_t thread) {
          (*static_cast<const Callable*>(object))(task, thread);
        }) {}

  void operator()(std::size_t task_idx, std::size_t thread_idx) const {
    invoke_(callable_, task_idx, thread_idx);
  }

 private:
  const void* callable_;
  void (*invoke_)(const void*, std::size_t, std::size_t);
};

/// A fork-join pool with a fixed partition: which thread runs which task never depends on timing.
///
/// parallel_for may be called from several threads; while one caller uses the workers, another runs
/// its tasks on its own thread, so nobody waits for a stranger's work. A waiting thread spins for a
/// few microseconds, unless the process has more pool threads than cores, and then sleeps.
class ThreadPool {
 public:
  /// `num_threads` >= 1 counts the calling thread: 1 starts no worker. 0 means
  /// usable_num_threads().
  explicit ThreadPool(std::size_t num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t num_threads() const;

  /// Calls task(task_idx, thread_idx) for every task_idx in [0, num_tasks), thread_idx <
  /// num_threads(), and returns when all are done. With n = min(num_threads(), num_tasks), thread t
  /// of n runs the contiguous range [num_tasks*t/n, num_tasks*(t+1)/n) in order; the caller is
  /// thread 0. A task that throws ends its thread's range; the first exception (lowest thread) is
  /// rethrown in the caller after all threads have finished. Nested calls, and calls made while
  /// another caller has the workers, run inline as thread 0.
  void parallel_for(std::size_t num_tasks, TaskRef task);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The number of cores this process may really use: CPU affinity and cgroup quota (v1 and v2)
/// respected; LATTICE_NUM_THREADS overrides. At least 1. Throws kInvalidArgument when
/// LATTICE_NUM_THREADS is not a number from 1 to 1024.
std::size_t usable_num_threads();

}  // namespace lattice
