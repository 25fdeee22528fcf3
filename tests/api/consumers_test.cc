// A run has one consumer at a time; a second one is told.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

// A run whose next() waits until it is let go.
struct Held {
  std::latch inside{1}, go{1};
  Dataset<std::int64_t> data() {
    return range(3).map(
        [this](std::int64_t x) {
          if (x == 0) {
            inside.count_down();
            go.wait();
          }
          return x;
        },
        {.parallelism = 1, .blocks = true});
  }
};

constexpr ErrorCode code = ErrorCode::failed_precondition;

TEST(Consumers, ThatComeWhileAnotherOneWaitsAreTold) {
  for (const bool serial : {false, true}) {
    Held held;
    auto run = held.data().start({.serial = serial});
    std::atomic<std::int64_t> first{-1};
    std::jthread waits([&] { first = run.next().value(); });
    held.inside.wait();
    while (!run.snapshot().consumer.waiting && !serial) std::this_thread::yield();
    EXPECT_ERROR(run.next(), code, "next() was called while another thread was in next()");
    EXPECT_ERROR(run.next_for(std::chrono::milliseconds(1)), code, "Start a run for each thread");
    EXPECT_ERROR(run.epoch(1), code, "epoch() was called while another thread");
    EXPECT_ERROR(run.checkpoint(), code, "checkpoint() was called while another thread");
    held.go.count_down();
    waits.join();
    EXPECT_EQ(first, 0) << "the first one goes on unharmed";
    EXPECT_EQ(run.next(), 1);
  }
}

TEST(Consumers, MayTakeTurns) {
  auto run = range(100).start();
  std::int64_t sum = 0;
  for (int i = 0; i < 100; ++i) std::jthread([&] { sum += run.next().value(); }).join();
  EXPECT_EQ(sum, 99 * 100 / 2);
  EXPECT_FALSE(run.next());
}

TEST(Consumers, AreFreeAgainBehindAnError) {
  auto run =
      range(3).map([](std::int64_t x) { return x == 0 ? throw Error(ErrorCode::data_loss, "torn") : x; }).start();
  EXPECT_THROW(run.next(), ElementError);
  EXPECT_EQ(run.next(), 1);
}

struct Constant {
  const std::int64_t value;
};

TEST(Consumers, TakeWhatCannotBeAssignedAlsoWithADeadline) {
  auto run = range(2).map([](std::int64_t value) { return Constant{value}; }).start({.serial = true});
  EXPECT_EQ(run.next()->value, 0);
  EXPECT_EQ(run.next_for(std::chrono::seconds(10)).value->value, 1);
}

}  // namespace
}  // namespace penstock
