#include "bench/imagenet/interrupt.h"

#include <signal.h>

namespace penstock::bench {
namespace {

// The one thing that a signal handler may touch.
volatile sig_atomic_t signal_seen = 0;

extern "C" void note_signal(int) { signal_seen = 1; }

}  // namespace

void watch_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return signal_seen != 0; }

}  // namespace penstock::bench
