// The packet that the consumer takes from.
#include "lib/exec/packet_in_hand.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

// After which of its slots a packet is reported, of `count` slots and a report after each `after`: "4 8 10".
std::string reports(std::int64_t count, std::int64_t after) {
  PacketInHand hand;
  hand.report(after);
  hand.make_room() = slots_of(count_up(count));
  std::string text;
  for (std::int64_t taken = 0, reported = 0; !hand.empty();) {
    EXPECT_EQ(text_of(hand.next()), std::to_string(taken++));
    if (!hand.has_to_report()) continue;
    reported += hand.report(after);
    EXPECT_EQ(reported, taken);
    text += (text.empty() ? "" : " ") + std::to_string(taken);
  }
  return text;
}

TEST(PacketInHand, IsReportedInLumpsAndWhenItEnds) {
  EXPECT_EQ(reports(10, 4), "4 8 10");
  EXPECT_EQ(reports(8, 4), "4 8") << "once at the end";
  EXPECT_EQ(reports(3, 100), "3");
}

TEST(PacketInHand, IsReportedOneByOneAtTheLeast) {
  EXPECT_EQ(reports(3, 1), "1 2 3");
  EXPECT_EQ(reports(3, 0), "1 2 3");
  PacketInHand first;
  first.make_room() = slots_of("0 1");
  first.next();
  EXPECT_TRUE(first.has_to_report()) << "nobody has said how many there may be";
}

TEST(PacketInHand, AddsUpWhatHasNotBeenReportedOverPackets) {
  PacketInHand hand;
  hand.report(100);
  for (const auto* text : {"0 1", "2"}) {
    hand.make_room() = slots_of(text);
    while (!hand.empty()) hand.next();
  }
  EXPECT_EQ(hand.report(100), 3);
  EXPECT_EQ(hand.report(100), 0);
}

TEST(PacketInHand, MakesRoomForTheNextOne) {
  PacketInHand hand;
  hand.make_room() = slots_of("0 1 2");
  hand.next();
  EXPECT_TRUE(hand.make_room().empty());
  EXPECT_TRUE(hand.empty());
  hand.make_room() = slots_of("3");
  EXPECT_EQ(text_of(hand.next()), "3");
}

TEST(PacketInHand, LetsGoOfWhatIsLeft) {
  PacketInHand hand;
  hand.make_room() = slots_of("0 1 2");
  EXPECT_EQ(text_of(hand.let_go()), "0 1 2");
  EXPECT_TRUE(hand.empty());
  EXPECT_TRUE(hand.slots().empty());
}

}  // namespace
}  // namespace penstock::exec
