#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/cpu_quota.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace lattice {
namespace {

std::size_t affinity_count() {
  const std::size_t online = std::max<std::size_t>(1, std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails only beyond 1024 CPUs, where `online` is a good answer.
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
  }
#endif
  return online;
}

}  // namespace

std::size_t usable_num_threads() {
  constexpr std::size_t kMost = 1024;
  if (const char* variable = std::getenv("LATTICE_NUM_THREADS"); variable != nullptr) {
    const std::string_view text(variable);
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > kMost) {
      raise(ErrorCode::kInvalidArgument,
            "LATTICE_NUM_THREADS: expected a number from 1 to {}, got \"{}\"", kMost, text);
    }
    return count;
  }
  const std::size_t cores = affinity_count();
  return std::min(cores, cgroup_cpu_limit().value_or(cores));
}

}  // namespace lattice
