// A thread of which nothing is left. join() returns as soon as the kernel has cleared the thread's number in our
// memory; the thread itself, its CPU clock and its files under /proc are there for a moment longer, on a busy machine
// for many milliseconds.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace penstock::testing {

// Runs `work` on a thread, and returns when the system knows that thread no more. False: it did for ten minutes.
template <class Work> bool run_on_a_thread_and_await_its_end(Work&& work) {
  pid_t number = 0;
  std::thread([&] {
    number = static_cast<pid_t>(::syscall(SYS_gettid));
    std::forward<Work>(work)();
  }).join();
  const std::string file = "/proc/self/task/" + std::to_string(number);
  for (const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(10);
       ::access(file.c_str(), F_OK) == 0;) {
    if (std::chrono::steady_clock::now() > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace penstock::testing
