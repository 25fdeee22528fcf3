#include "tests/support/watchdog.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

// Sanitizers end the process their own way.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace penstock::test {

using Clock = std::chrono::steady_clock;

namespace {

// For the handlers below, which may neither lock nor allocate: no other way than a global.
std::array<char, 1024> last_words;

void say_last_words() {
  const auto length = std::strlen(last_words.data());
  if (::write(STDERR_FILENO, last_words.data(), length) < 0) std::_Exit(1);
}

void die(int signal) {
  say_last_words();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

Watchdog::Watchdog(std::chrono::seconds patience)
    : patience_(patience), deadline_(Clock::now() + patience), thread_([this] { work(); }) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGTERM}) std::signal(signal, die);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_last_words);
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::watch(std::string what) {
  std::lock_guard lock(mutex_);
  what_ = std::move(what);
  std::snprintf(last_words.data(), last_words.size(), "died in: %s\n", what_.c_str());
  deadline_ = Clock::now() + patience_;
}

void Watchdog::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto deadline = deadline_;
    changed_.wait_until(lock, deadline, [this] { return stopping_; });
    if (stopping_ || Clock::now() < deadline_) continue;
    std::cerr << "hangs for " << patience_.count() << " s: " << what_ << std::endl;
    std::_Exit(1);
  }
}

}  // namespace penstock::test
