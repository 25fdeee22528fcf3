// The bytes that calls reserve before they begin.
#include "lib/exec/reservation.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Reserving : PartOf {
  using PartOf::PartOf;
  Meter meter{traits};
  Sizes sizes{traits, signs, knobs, meter};
  Reservation reservation{traits, signs, knobs, meter, sizes};
  Ring ring{traits, 2};

  std::int64_t reserved() const {
    std::int64_t sum = 0;
    for (const auto& group : ring.groups()) sum += group->memory.reserved + group->memory.reserved_since;
    return sum;
  }
};

TEST(Reservation, HasOnTheBooksWhatItsGroupsHaveReserved) {
  Reserving of;
  Group& unknown = admit(of.ring, slots_of("0"));
  EXPECT_TRUE(of.reservation.take(unknown, 1));
  EXPECT_EQ(of.used(), 0) << "nobody knows what its result will hold";
  teach(of.meter, 1, 100, 1000);
  Group& first = admit(of.ring, slots_of("1 2 3"));
  Group& second = admit(of.ring, slots_of("4"));
  second.memory.needs = 500;
  EXPECT_TRUE(of.reservation.take(first, 2));
  EXPECT_TRUE(of.reservation.take(second, 3));
  EXPECT_EQ(first.memory.reserved, 3000);
  EXPECT_EQ(second.memory.reserved, 1500) << "and what it asked for when it was broken off";
  EXPECT_EQ(of.used(), of.reserved());
  of.reservation.give_back(second);
  EXPECT_EQ(of.used(), of.reserved());
  of.reservation.give_back(first);
  of.reservation.give_back(first);  // it has nothing any more
  EXPECT_EQ(of.used(), 0);
  EXPECT_EQ(of.reserved(), 0);
  EXPECT_FALSE(of.reservation.is_refused());
}

TEST(Reservation, SaysThatItWaitsWhereItIsRefused) {
  Reserving of;
  teach(of.meter, 1, 100, 1000);
  of.host.memory().charge(kBudget - 1500);
  Group& group = admit(of.ring, slots_of("0 1"));
  EXPECT_FALSE(of.reservation.take(group, 4));
  EXPECT_EQ(group.memory.reserved, 0);
  EXPECT_EQ(of.used(), kBudget - 1500);
  EXPECT_TRUE(of.reservation.is_refused());
  EXPECT_TRUE(of.signs.waits_for_memory);
  EXPECT_EQ(of.signs.claim, 0) << "most of its calls are under way";
  of.host.memory().release(499);
  EXPECT_FALSE(of.host.memory().take_wake_up());
  of.host.memory().release(1);
  EXPECT_TRUE(of.host.memory().take_wake_up()) << "for whoever makes room";
  of.reservation.look_again();
  EXPECT_TRUE(of.reservation.take(group, 4));
  EXPECT_FALSE(of.signs.waits_for_memory);
  EXPECT_EQ(of.used(), kBudget);
}

TEST(Reservation, ClaimsWhatItWasRefusedWhileItsCallsStandIdle) {
  Reserving of;
  teach(of.meter, 1, 100, 1000);
  of.host.memory().charge(kBudget);
  Group& group = admit(of.ring, slots_of("0 1"));
  EXPECT_FALSE(of.reservation.withdraw_claim());
  EXPECT_FALSE(of.reservation.take(group, 2)) << "another call is under way, of four";
  EXPECT_EQ(of.signs.claim, 2000);
  EXPECT_TRUE(of.reservation.withdraw_claim());
  EXPECT_EQ(of.signs.claim, 0);
  EXPECT_FALSE(of.reservation.withdraw_claim());
  of.host.memory().release(1);
  EXPECT_TRUE(of.host.memory().take_wake_up()) << "for those who were refused because of the claim";
}

TEST(Reservation, LeavesWhatStagesBehindHaveClaimed) {
  Reserving of(mapped(), 1, kBudget, 1);
  teach(of.meter, 1, 100, 1000);
  of.host.behind.claim = kBudget - 1500;
  Group& group = admit(of.ring, slots_of("0"));
  EXPECT_TRUE(of.reservation.has_room(group, 1));
  EXPECT_FALSE(of.reservation.has_room(group, 2));
  EXPECT_TRUE(of.reservation.take(group, 1));
  Group& other = admit(of.ring, slots_of("1"));
  EXPECT_FALSE(of.reservation.take(other, 2));
  EXPECT_EQ(of.used(), of.reserved());
}

TEST(Reservation, WaitsWithoutAThread) {
  Reserving of;
  teach(of.meter, 1, 100, 1000);
  Group& group = admit(of.ring, slots_of("0"));
  of.host.memory().charge(kBudget);
  EXPECT_TRUE(of.reservation.wait(group, 1));
  EXPECT_TRUE(of.signs.waits_for_memory);
  EXPECT_EQ(of.signs.claim, 1000);
  of.host.memory().release(1000);
  EXPECT_TRUE(of.host.memory().take_wake_up());
  EXPECT_FALSE(of.reservation.wait(group, 1)) << "there is room by now";
  EXPECT_EQ(of.used(), kBudget - 1000) << "it only looks";
}

TEST(Reservation, MayBeForced) {
  Reserving of;
  teach(of.meter, 1, 100, 1000);
  of.host.memory().charge(kBudget);
  Group& group = admit(of.ring, slots_of("0"));
  EXPECT_FALSE(of.reservation.take(group, 1));
  of.reservation.force(group);
  EXPECT_TRUE(group.memory.is_forced);
  EXPECT_FALSE(of.reservation.is_refused());
  EXPECT_EQ(of.used(), kBudget + of.reserved());
  EXPECT_EQ(of.reserved(), 1000);
  of.reservation.give_back(group);
  EXPECT_EQ(of.used(), kBudget);
}

TEST(Reservation, IsOfTheHintWhereTheOpHasOneAndOfThePlacesOfItsResults) {
  Reserving of;
  Group& group = admit(of.ring, slots_of("0 1"));
  group.memory.hint = 700;
  group.memory.needs = 11;
  EXPECT_EQ(of.reservation.expected(group), 711 + 2 * static_cast<std::int64_t>(sizeof(Slot)));
  Sealed three;
  three.elements = 3;
  of.meter.learn(Group(), 1, 100, 100);
  of.meter.count_results(three);
  EXPECT_EQ(of.reservation.expected(group), 711 + 6 * static_cast<std::int64_t>(sizeof(Slot)));
}

TEST(Reservation, OfASourceIsOfWhatItWillMake) {
  Reserving of(mapped(), 0);
  teach(of.meter, 1, 100, 1000);
  auto group = of.ring.new_group();
  group->inputs.admitted = 7;
  EXPECT_EQ(of.reservation.expected(*group), 7000);
}

TEST(Reservation, OfAStageThatPassesMemoryOnIsWhatWasAskedForAlone) {
  Reserving of(range(10).filter([](std::int64_t) { return true; }).node());
  teach(of.meter, 1, 100, 1000);
  of.host.memory().charge(kBudget);
  Group& group = admit(of.ring, slots_of("0 1"));
  EXPECT_TRUE(of.reservation.take(group, 1));
  EXPECT_EQ(of.reserved(), 0);
  group.memory.needs = 50;
  EXPECT_TRUE(of.reservation.take(group, 1));
  EXPECT_EQ(of.reserved(), 50);
  EXPECT_EQ(of.used(), kBudget + 50);
}

TEST(Reservation, IsMadeUpForWhenTheFirstResultTells) {
  Reserving of;
  Group* groups[5];
  for (Group*& group : groups) group = &admit(of.ring, slots_of("0 1"));
  for (const int i : {0, 1, 2, 3}) groups[i]->state = Group::State::running;
  groups[1]->kind = Group::Kind::part;
  groups[2]->folded.is_unfolding = true;
  groups[3]->memory.hint = 0;
  teach(of.meter, 1, 100, 1000);
  of.reservation.take_for_first_calls(of.ring);
  EXPECT_EQ(groups[0]->memory.reserved_since, 2000);
  EXPECT_EQ(of.reserved(), 2000) << "others have theirs, or do not run";
  EXPECT_EQ(of.used(), of.reserved());
  of.reservation.take_for_first_calls(of.ring);
  EXPECT_EQ(of.used(), of.reserved()) << "once";
  EXPECT_TRUE(of.reservation.take(*groups[0], 1)) << "its hint was being asked for";
  EXPECT_EQ(groups[0]->memory.reserved_since, 0);
  EXPECT_EQ(of.used(), of.reserved());
  of.reservation.give_back(*groups[0]);
  EXPECT_EQ(of.used(), 0);
}

TEST(Reservation, CallsAQuarterOfTheBudgetPlenty) {
  Reserving of;
  EXPECT_EQ(of.reservation.plenty(), kBudget / 4);
}

}  // namespace
}  // namespace penstock::exec
