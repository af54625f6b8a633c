#include "backends/metal/simt/watchdog.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/result.h"

namespace lattice::metal::simt {
namespace {

// The one whose signals arrive on this thread.
thread_local Watchdog* running = nullptr;

int watchdog_signal() { return SIGRTMIN + 5; }

// Registers are integers; on this processor pointers are too.
std::uint64_t word(auto* pointer) { return std::bit_cast<std::uint64_t>(pointer); }

const char* pc_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return std::bit_cast<const char*>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return std::bit_cast<const char*>(context.uc_mcontext.pc);
#endif
}

// Lets the interrupted code go on as a call of `function` with one argument, on its own stack.
void divert(ucontext_t& context, void (*function)(const void*), const char* argument) {
#if defined(__x86_64__)
  greg_t* registers = context.uc_mcontext.gregs;
  constexpr greg_t kRedZone = 128;
  registers[REG_RSP] = (registers[REG_RSP] - kRedZone) / 16 * 16 - 8;  // as after a call
  registers[REG_RDI] = static_cast<greg_t>(word(argument));
  registers[REG_RIP] = static_cast<greg_t>(word(function));
#else
  context.uc_mcontext.sp = context.uc_mcontext.sp / 16 * 16;
  context.uc_mcontext.regs[0] = word(argument);
  context.uc_mcontext.pc = word(function);
#endif
}

timespec seconds(double value) {
  const double whole = std::floor(value);
  return {.tv_sec = static_cast<time_t>(whole),
          .tv_nsec = static_cast<long>((value - whole) * 1e9)};
}

}  // namespace

void Watchdog::on_signal(int, siginfo_t*, void* data) {
  Watchdog* self = running;
  if (self == nullptr) return;  // it came late
  // Where kernels meet the host, it has had a whole tick to notice, and knows the place better.
  const bool is_unnoticed = self->is_expired();
  if (!is_unnoticed) self->num_ticks_ = self->num_ticks_ + 1;
  auto& context = *static_cast<ucontext_t*>(data);
  const char* pc = pc_of(context);
  if (!is_unnoticed || pc < self->image_begin_ || pc >= self->image_end_) return;
  running = nullptr;
  divert(context, self->on_expired_, pc);
}

Watchdog::Watchdog(double limit_seconds, const char* image_begin, const char* image_end,
                   OnExpired on_expired)
    : image_begin_(image_begin), image_end_(image_end), on_expired_(on_expired) {
  static const bool is_installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = &Watchdog::on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    return sigaction(watchdog_signal(), &action, nullptr) == 0;
  }();
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = watchdog_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (!is_installed || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) {
    raise(ErrorCode::kUnavailable, "[simt] no timer: {}", std::strerror(errno));
  }
  running = this;
  const timespec tick = seconds(limit_seconds / kTicks);
  const itimerspec times = {.it_interval = tick, .it_value = tick};
  timer_settime(timer_, 0, &times, nullptr);
}

Watchdog::~Watchdog() {
  timer_delete(timer_);
  running = nullptr;
}

}  // namespace lattice::metal::simt
