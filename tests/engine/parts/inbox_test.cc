// What waits for a stage, and what the stage before has been promised.
#include "lib/exec/inbox.h"

#include <utility>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Inboxed : PartOf {
  Inbox inbox{traits, 3};

  // The oldest slots, up to `most`, as a group would get them.
  std::string take(std::int64_t most) {
    Group group;
    inbox.fill(group, most);
    admitted = group.inputs.admitted;
    return text_of(group.slots);
  }
  std::int64_t admitted = 0;  // of the last one
};

TEST(Inbox, PromisesNoMoreThanItsCapacity) {
  Inboxed of;
  EXPECT_EQ(of.inbox.top_up(10), 10);
  EXPECT_EQ(of.inbox.top_up(10), 0);
  of.inbox.receive(slots_of("0 1 2 3 4 5"));
  EXPECT_EQ(of.inbox.top_up(10), 0) << "what waits is still promised";
  EXPECT_EQ(of.take(5), "0 1 2 3 4");
  EXPECT_EQ(of.inbox.top_up(10), 5) << "4 have not come, and one waits";
  EXPECT_EQ(of.inbox.waiting(), 1);
}

TEST(Inbox, GivesCreditsInLumps) {
  Inboxed of;
  of.inbox.top_up(10);
  of.inbox.receive(slots_of(count_up(10)));
  of.take(4);
  EXPECT_EQ(of.inbox.top_up(10), 0) << "less than half";
  of.take(1);
  EXPECT_EQ(of.inbox.top_up(10), 5);
}

TEST(Inbox, IsNotToppedUpWhileASmallerCapacityIsPassed) {
  Inboxed of;
  of.inbox.top_up(10);
  of.inbox.receive(slots_of(count_up(10)));
  of.take(8);
  EXPECT_EQ(of.inbox.top_up(2), 0);
  of.take(1);
  EXPECT_EQ(of.inbox.top_up(2), 1);
}

TEST(Inbox, CountsErrorsAsElementsAndMarksNot) {
  Inboxed of;
  Slots slots = slots_of("0 e |0 1 |1");
  EXPECT_EQ(count_elements(slots), 3);
  of.inbox.receive(std::move(slots));
  EXPECT_EQ(of.inbox.waiting(), 5);
}

TEST(Inbox, DoesNotCopyAPacketThatFitsWhole) {
  Inboxed of;
  Slots packet = slots_of("0 1 2");
  const Slot* const place = packet.data();
  of.inbox.receive(std::move(packet));
  Group group;
  of.inbox.fill(group, 3);
  EXPECT_EQ(group.slots.data(), place);
  EXPECT_EQ(group.inputs.admitted, 3);
  EXPECT_FALSE(group.mark);
  EXPECT_EQ(of.inbox.waiting(), 0);
}

TEST(Inbox, MakesAGroupOfSeveralPacketsAndPiecesOfThem) {
  Inboxed of;
  for (const auto* packet : {"0 1", "2 3 4", "5"}) of.inbox.receive(slots_of(packet));
  EXPECT_EQ(of.take(4), "0 1 2 3");
  EXPECT_EQ(of.take(100), "4 5");
  EXPECT_EQ(of.take(100), "");
}

TEST(Inbox, EndsAGroupBehindAMarkInsideAPacket) {
  Inboxed of;
  of.inbox.receive(slots_of("0 |0 |1 1 2"));
  for (const auto* group : {"0 |0", "|1", "1 2"}) EXPECT_EQ(of.take(100), group);
}

TEST(Inbox, LeavesOutAPassUpToItsMarkAndGivesItsMemoryBack) {
  Inboxed of;
  of.inbox.top_up(10);
  of.inbox.receive(of.charged("0 1 e", 100));
  of.inbox.leave_out(0, 0, 0);
  EXPECT_EQ(of.used(), 300) << "it looks at what waits when that is taken";
  EXPECT_EQ(of.take(2), "");
  EXPECT_EQ(of.admitted, 2) << "they had been promised, and are counted where that is kept";
  EXPECT_EQ(of.used(), 100);
  of.inbox.receive(of.charged("2 |0 3", 100));
  EXPECT_EQ(of.take(100), "|0");
  EXPECT_EQ(of.take(100), "3");
  EXPECT_EQ(of.used(), 100);
  Slots dropped;
  of.inbox.swap_dropped(dropped);
  EXPECT_EQ(text_of(dropped), "0 1 e 2");
  EXPECT_EQ(of.inbox.top_up(10), 6) << "4 have not come";
}

TEST(Inbox, LeavesOutPassesUntilTheDeepestRequestIsMet) {
  for (const auto& [first, second] : {std::pair<std::size_t, std::size_t>{0, 2}, {2, 0}}) {
    Inboxed of;
    of.inbox.receive(slots_of("0 |0 1 |1 2 |2 3"));
    of.inbox.leave_out(first, 0, 0);
    of.inbox.leave_out(second, 0, 0);
    for (const auto* group : {"|0", "|1", "|2", "3"}) EXPECT_EQ(of.take(100), group) << first;
  }
}

TEST(Inbox, LeavesOutAllPassesUpToTheLastOne) {
  Inboxed of;
  of.inbox.receive(slots_of("0 |1 1 |0 2 |1 3"));
  of.take(100);
  of.inbox.leave_out(1, 0, 2);
  for (const auto* group : {"|0", "|1", "3"})
    EXPECT_EQ(of.take(100), group) << "an epoch's end comes first, and it goes on";
}

TEST(Inbox, LeavesNothingOutWhoseMarkHasBeenHere) {
  Inboxed of;
  of.inbox.receive(slots_of("0 |1 1 |0 2"));
  of.take(100);
  of.inbox.leave_out(1, 0, 0);
  EXPECT_EQ(of.take(100), "1 |0");
  of.inbox.leave_out(0, 1, 1);
  EXPECT_EQ(of.take(100), "2");
  of.inbox.receive(slots_of("3", 2));
  of.inbox.leave_out(1, 1, 1);  // that mark was of a lower level
  EXPECT_EQ(of.take(100), "");
}

TEST(Inbox, LetsGoOfAllThatWaits) {
  Inboxed of;
  of.inbox.receive(slots_of("0 1 2"));
  of.take(1);
  Slots gone;
  EXPECT_TRUE(of.inbox.let_go(gone));
  EXPECT_EQ(gone.size(), 3u);
  Slots none;
  EXPECT_FALSE(of.inbox.let_go(none));
  EXPECT_EQ(of.inbox.waiting(), 0);
  of.inbox.receive(slots_of("3 4"));
  EXPECT_EQ(of.take(100), "3 4") << "from its beginning";
}

}  // namespace
}  // namespace penstock::exec
