// What the last stage is told about room for its results.
#include "lib/exec/outlet.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

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

}  // namespace
}  // namespace penstock::exec
