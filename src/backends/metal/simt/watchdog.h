#pragma once

#include <csignal>
#include <ctime>

namespace lattice::metal::simt {

/// Interrupts code of a kernel that runs for too long on this thread. The clock is the thread's CPU
/// time, so that a busy machine does not count.
///
/// While one exists, a signal arrives at every quarter of the limit. A kernel has no place of its
/// own to notice that, so the signal's handler decides: if the interrupted instruction belongs to
/// the kernel's library, it continues elsewhere, in on_expired(); code of the host is never cut
/// off, but it can ask is_expired() where it is entered from a kernel. One at a time for each
/// thread.
class Watchdog {
 public:
  /// What a kernel is made to run instead of its own code, once; must not return. `pc` is where it
  /// was.
  using OnExpired = void (*)(const void* pc);

  /// `limit_seconds` of CPU time for each stretch between calls of restart(). The library's code is
  /// [image_begin, image_end).
  Watchdog(double limit_seconds, const char* image_begin, const char* image_end,
           OnExpired on_expired);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  void restart() { num_ticks_ = 0; }
  bool is_expired() const { return num_ticks_ > kTicks; }

 private:
  static void on_signal(int signal, siginfo_t* info, void* context);

  static constexpr int kTicks = 4;  // that fit into the limit
  const char* image_begin_;
  const char* image_end_;
  OnExpired on_expired_;
  volatile std::sig_atomic_t num_ticks_ = 0;
  timer_t timer_ = {};
};

}  // namespace lattice::metal::simt
