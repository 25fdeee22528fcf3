#include "tests/random/watchdog.h"

#include <cstdlib>
#include <iostream>
#include <utility>

namespace random_graphs {

using Clock = std::chrono::steady_clock;

Watchdog::Watchdog(std::chrono::seconds patience)
    : patience_(patience), deadline_(Clock::now() + patience), thread_([this] { work(); }) {}

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

}  // namespace random_graphs
