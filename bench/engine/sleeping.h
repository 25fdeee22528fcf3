// Functions that wait, and counts of those that do so now.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "bench/meter.h"

namespace penstock::bench {

inline constexpr int kSleepers = 64;

// So many sleeps of that length on kSleepers plain threads, which take their numbers from a counter.
Cost sleep_on_plain_threads(std::int64_t sleeps, std::chrono::milliseconds length);

// Counts the calls that are under way and those that were begun.
class CallCount {
 public:
  class Scope {
   public:
    explicit Scope(CallCount& count) : count_(count) {
      ++count_.now_;
      ++count_.begun_;
    }
    ~Scope() { --count_.now_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CallCount& count_;
  };

  std::int64_t now() const { return now_; }
  std::int64_t begun() const { return begun_; }

 private:
  std::atomic<std::int64_t> now_{0}, begun_{0};
};

}  // namespace penstock::bench
