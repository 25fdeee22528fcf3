// When a consumer that waits is to be woken, and how long it has waited.
#include "lib/exec/consumer_wait.h"

#include <gtest/gtest.h>

#include "tests/support/pumped.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Waiting {
  std::int64_t now = 1'000'000'000;
  const ClockedMachine machine{[this] { return now; }};
  ConsumerWait wait{machine};

  ConsumerSnapshot seen() const {
    ConsumerSnapshot snapshot;
    wait.snapshot(snapshot);
    return snapshot;
  }
};

TEST(ConsumerWait, AddsUpItsTime) {
  Waiting of;
  EXPECT_EQ(of.wait.begin(), of.now);
  of.now += 10;
  EXPECT_TRUE(of.seen().waiting);
  EXPECT_EQ(of.seen().wait_ns, 10) << "it goes on";
  of.wait.end();
  of.now += 100;
  EXPECT_FALSE(of.seen().waiting);
  EXPECT_EQ(of.seen().wait_ns, 10);
  of.wait.begin();
  of.now += 5;
  of.wait.end();
  EXPECT_EQ(of.seen().wait_ns, 15);
  EXPECT_EQ(of.seen().waits, 2);
}

TEST(ConsumerWait, IsOverWhenSomebodyCalls) {
  Waiting of;
  of.wait.call();
  of.wait.begin();
  EXPECT_FALSE(of.wait.is_worth_ending()) << "that was before";
  of.wait.call();
  EXPECT_TRUE(of.wait.is_worth_ending());
}

TEST(ConsumerWait, IsOverWithoutACallWhenTheLastOneIsLongAgo) {
  Waiting of;
  of.wait.begin();
  EXPECT_TRUE(of.wait.is_worth_ending()) << "nobody has ever called";
  of.wait.call();
  of.wait.end();
  of.wait.begin();
  of.now += ConsumerWait::kBetweenCalls;
  EXPECT_FALSE(of.wait.is_worth_ending());
  EXPECT_TRUE(of.wait.was_called_within(ConsumerWait::kBetweenCalls));
  EXPECT_FALSE(of.wait.was_called_within(ConsumerWait::kBetweenCalls - 1));
  ++of.now;
  EXPECT_TRUE(of.wait.is_worth_ending());
}

}  // namespace
}  // namespace penstock::exec
