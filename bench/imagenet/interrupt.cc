#include "bench/imagenet/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace penstock::bench {
namespace {

// The one thing that a signal handler may touch.
volatile sig_atomic_t signal_seen = 0;

extern "C" void note_signal(int) { signal_seen = 1; }
extern "C" void end_program(int) { ::_exit(130); }

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void end_at_interrupt() { handle_signals(end_program); }

void watch_for_interrupt() { handle_signals(note_signal); }

bool interrupted() noexcept { return signal_seen != 0; }

}  // namespace penstock::bench
