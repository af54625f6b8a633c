#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace lattice {

/// Indices [begin, end).
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

/// Part number `part` of `num_parts` nearly equal contiguous parts of [0, count).
inline Range split(std::int64_t count, std::int64_t part, std::int64_t num_parts) {
  return {count * part / num_parts, count * (part + 1) / num_parts};
}

/// Threads worth using for `work`, given in about the cycles that one thread would need: below some
/// ten microseconds each, waking a thread costs more than it brings.
inline std::int64_t useful_threads(const ThreadPool& pool, std::int64_t work) {
  constexpr std::int64_t kMinWork = 20'000;
  return std::clamp<std::int64_t>(work / kMinWork, 1,
                                  static_cast<std::int64_t>(pool.num_threads()));
}

/// Calls task(begin, end) on contiguous parts of [0, count), one per thread. `item_work` is about
/// the cycles that one item takes.
template <typename Task>
void parallel_ranges(ThreadPool& pool, std::int64_t count, std::int64_t item_work,
                     const Task& task) {
  const std::int64_t num_threads = useful_threads(pool, count * item_work);
  pool.parallel_for(static_cast<std::size_t>(num_threads), [&](std::size_t part, std::size_t) {
    const Range range = split(count, static_cast<std::int64_t>(part), num_threads);
    task(range.begin, range.end);
  });
}

}  // namespace lattice
