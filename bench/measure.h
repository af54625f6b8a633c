// What the measuring programs share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "base/result.h"
#include "ops/context.h"

namespace lattice {

/// The CPU backend on so many threads, which it says on standard output.
inline Context cpu_context(std::size_t num_threads) {
  const auto backend = value_or_throw(make_cpu_backend());
  std::printf("%zu threads, target %s\n", num_threads, std::string(backend->target()).c_str());
  return Context(backend, std::make_shared<ThreadPool>(num_threads));
}

/// Normally distributed, the same in every run.
inline std::vector<float> random_floats(std::int64_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = normal(random);
  return values;
}

/// Seconds of the median run, of at least five and about half a second of them.
template <class Function>
double median_seconds(const Function& function) {
  using Clock = std::chrono::steady_clock;
  constexpr double kSeconds = 0.5;
  constexpr std::size_t kMinRuns = 5;
  function();
  std::vector<double> times;
  for (double total = 0; total < kSeconds || times.size() < kMinRuns; total += times.back()) {
    const auto begin = Clock::now();
    function();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace lattice
