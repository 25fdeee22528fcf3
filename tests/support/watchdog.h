// Tells what was being done when the process hangs or dies. A pipeline that stands still can
// neither be waited for nor destroyed, so the process is ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace penstock::test {

class Watchdog {
 public:
  // Long enough for a busy machine under a sanitizer; nothing waits that long unless it hangs.
  explicit Watchdog(std::chrono::seconds patience = std::chrono::seconds(60));
  ~Watchdog();

  // From now on `what` is being done; the clock starts anew. A crash names it, too.
  void watch(std::string what);

 private:
  void work();

  const std::chrono::seconds patience_;
  std::mutex mutex_;  // all below but the thread
  std::condition_variable changed_;
  std::string what_;
  std::chrono::steady_clock::time_point deadline_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace penstock::test
