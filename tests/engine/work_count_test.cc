// exec::WorkCount: waiting until no work is out.
#include "lib/exec/work_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace penstock::exec {
namespace {

TEST(WorkCount, OfNothingIsNotWaitedFor) {
  WorkCount count;
  count.wait();
  count.begin();
  count.end();
  count.wait();
}

// The count is gone as soon as wait() returns: under a sanitizer, a later touch of any thread is found.
TEST(WorkCount, IsWaitedForUntilAllHaveEndedAndTouchedNoMoreThen) {
  constexpr int kThreads = 4, kEach = 200;
  for (int round = 0; round < 50; ++round) {
    auto count = std::make_unique<WorkCount>();
    std::atomic<int> ended{0};
    for (int i = 0; i < kThreads * kEach; ++i) count->begin();
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([counted = count.get(), &ended] {
        for (int i = 0; i < kEach; ++i) {
          ++ended;
          counted->end();
        }
      });
    }
    count->wait();
    EXPECT_EQ(ended, kThreads * kEach);
    count.reset();
  }
}

}  // namespace
}  // namespace penstock::exec
