#pragma once

namespace lattice::cli {

/// While it lives, Ctrl-C sets a flag instead of ending the program. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// Whether Ctrl-C came since the guard was made.
  static bool interrupted();
};

}  // namespace lattice::cli
