#include "interrupt.h"

#include <csignal>

namespace lattice::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;
struct sigaction g_previous = {};

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { g_interrupted = 1; };
  action.sa_flags = SA_RESTART;  // a write that waits for its reader is not to fail
  ::sigaction(SIGINT, &action, &g_previous);
}

InterruptGuard::~InterruptGuard() { ::sigaction(SIGINT, &g_previous, nullptr); }

bool InterruptGuard::interrupted() { return g_interrupted != 0; }

}  // namespace lattice::cli
