// What the last stage is told about room for its results.
#include "lib/exec/outlet.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

using testing::eventually;

Packet packet_of(std::size_t slots, std::int64_t worth_waiting) {
  Packet packet;
  packet.slots.resize(slots);
  packet.worth_waiting = worth_waiting;
  return packet;
}

TEST(Outlet, GivesTheRoomThatGrewWhileNothingWasThere) {
  Outlet outlet(2, 100);
  EXPECT_EQ(outlet.top_up(), 2);
  Packet one = packet_of(1, 2), none = packet_of(0, 10);
  outlet.receive(one);
  Slot slot;
  std::int64_t credits = 0;
  EXPECT_TRUE(outlet.pop(slot, credits));
  const std::int64_t returned = credits;
  outlet.receive(none);
  EXPECT_FALSE(outlet.pop(slot, credits));
  EXPECT_EQ(2 - 1 + returned + credits, 10);
  EXPECT_FALSE(outlet.pop(slot, credits));
  EXPECT_EQ(credits, 0);
}

// A consumer that was woken just now sleeps on beside the first of several slots; not when no more can come until it takes that one.
TEST(Outlet, WakesAConsumerThatWaitsForMoreWhenMemoryIsShort) {
  Outlet outlet(100, 100);
  std::atomic<int> arrivals{0};
  const std::jthread consumer([&] {
    Slot slot;
    for (std::int64_t credits = 0; arrivals < 2; ++arrivals) {
      outlet.wait(nullptr);
      while (outlet.pop(slot, credits)) outlet.count_taken();
    }
  });
  const auto sleeps = [&] {
    ConsumerSnapshot now;
    outlet.snapshot(now);
    return now.waiting;
  };
  Packet first = packet_of(1, 0), second = packet_of(1, 0);
  second.more_soon = true;
  ASSERT_TRUE(eventually(sleeps));
  outlet.receive(first);
  ASSERT_TRUE(eventually([&] { return arrivals == 1 && sleeps(); }));
  outlet.receive(second);
  outlet.wake();
  EXPECT_TRUE(eventually([&] { return arrivals == 2; }));
  outlet.receive(first);  // ends the consumer where that has failed
}

}  // namespace
}  // namespace penstock::exec
