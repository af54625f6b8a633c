#pragma once

#include <atomic>
#include <cstdint>

namespace lattice {

/// A GPU for tests of what happens without one: the CPU backend under the name "gpu", first in the
/// list of backends of a program that links fake_gpu.cc, and as healthy as the test says.
struct FakeGpu {
  std::atomic<bool> absent = false;
  std::atomic<bool> refuses_heads = false;
  /// The op that fails, counted from 0, and all after it; none: kNever.
  std::atomic<std::int64_t> fails_at = kNever;
  /// Ops that it was asked for.
  std::atomic<std::int64_t> num_ops = 0;

  static constexpr std::int64_t kNever = INT64_MAX;

  void reset() {
    absent = false;
    refuses_heads = false;
    fails_at = kNever;
    num_ops = 0;
  }
};

/// The one of this program.
FakeGpu& fake_gpu();

}  // namespace lattice
