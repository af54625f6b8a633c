// What the measuring programs share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace lattice {

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
