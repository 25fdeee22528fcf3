// Which groups of the ring may begin: with a window, with plenty of results that wait, and with passes that are open.
#include "lib/exec/ring.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

constexpr RingBounds kPlenty{.window = 1000, .has_plenty = true};

struct Bounded : PartOf {
  using PartOf::PartOf;
  Ring ring{traits, 3};

  Group& group(std::size_t place) { return *ring.groups()[place]; }
  // The oldest that waits begins, or is done at once.
  void begin(Group::State state = Group::State::running) {
    ring.first_ready().state = state;
    ring.pop_ready();
  }
};

TEST(RingBounds, DoNotHoldWhereTheControllerHasTheNumberOfCalls) {
  Bounded of;
  for (const auto* text : {"0 1 2 |0", "3 4", "5"}) admit(of.ring, slots_of(text));
  of.begin();
  EXPECT_EQ(of.ring.startable(of.group(2), {.window = 1, .has_plenty = false}), 1);
  EXPECT_EQ(of.ring.startable_groups({.window = 1, .has_plenty = false}), 2);
}

TEST(RingBounds, KeepCallsWithinAWindowOfTheOldestThatIsNotDone) {
  Bounded of(mapped(4));
  ASSERT_TRUE(of.traits.keeps_near);
  for (const auto* text : {"0 1", "2 3 4", "5 6 7 8", "9"}) admit(of.ring, slots_of(text));
  EXPECT_EQ(of.ring.startable(of.group(0), {.window = 1, .has_plenty = false}), 2) << "the oldest may always begin";
  EXPECT_EQ(of.ring.startable(of.group(1), {.window = 8, .has_plenty = false}), 3);
  EXPECT_EQ(of.ring.startable(of.group(2), {.window = 8, .has_plenty = false}), 3) << "5 are before it";
  EXPECT_EQ(of.ring.startable(of.group(3), {.window = 8, .has_plenty = false}), 0);
  EXPECT_EQ(of.ring.startable_groups({.window = 8, .has_plenty = false}), 3);
  of.begin(Group::State::done);
  EXPECT_EQ(of.ring.startable(of.group(3), {.window = 8, .has_plenty = false}), 1)
      << "the first 2 are done, and 7 are before it";
  EXPECT_EQ(of.ring.startable_groups({.window = 8, .has_plenty = false}), 3);
  of.begin();
  of.begin(Group::State::done);
  EXPECT_EQ(of.ring.startable(of.group(3), {.window = 7, .has_plenty = false}), 0)
      << "what is done behind an open one counts";
}

TEST(RingBounds, LetOnlyTheOldestBeginWhereThereIsPlenty) {
  Bounded of;
  for (const auto* text : {"0", "1", "2"}) admit(of.ring, slots_of(text));
  EXPECT_EQ(of.ring.startable_groups(kPlenty), 1);
  EXPECT_EQ(of.ring.startable(of.group(0), kPlenty), 1);
  EXPECT_EQ(of.ring.startable(of.group(1), kPlenty), 0);
  of.begin();
  EXPECT_EQ(of.ring.startable_groups(kPlenty), 0);
  EXPECT_EQ(of.ring.startable_groups(kWide), 2);
}

TEST(RingBounds, KeepPassesApartWhoseResultsLeaveInAnyOrder) {
  Bounded of(mapped(4, Order::arbitrary));
  ASSERT_TRUE(of.traits.keeps_passes_apart);
  for (const auto* text : {"0 1", "2 |0", "3", "4 |0"}) admit(of.ring, slots_of(text));
  EXPECT_EQ(of.ring.startable_groups(kWide), 2);
  EXPECT_EQ(of.ring.startable(of.group(1), kWide), 2) << "the one with the mark is of the pass itself";
  EXPECT_EQ(of.ring.startable(of.group(2), kWide), 0);
  of.begin();
  of.begin(Group::State::done);
  EXPECT_EQ(of.ring.startable_groups(kWide), 0) << "the first one is not done";
  of.group(0).state = Group::State::done;
  EXPECT_EQ(of.ring.startable_groups(kWide), 2);
}

TEST(RingBounds, LetAFlushBeginOnlyWhenAllBeforeItHasLeft) {
  Bounded of(range(10).batch(2).node());
  admit(of.ring, slots_of("0 1"));
  of.begin(Group::State::done);
  admit(of.ring, slots_of("|0")).kind = Group::Kind::flush;
  EXPECT_EQ(of.ring.startable(of.group(1), kWide), 0);
  EXPECT_EQ(of.ring.startable_groups(kWide), 0);
  of.ring.retire(0);
  EXPECT_EQ(of.ring.startable(of.group(0), kWide), 1);
  EXPECT_EQ(of.ring.startable_groups(kWide), 1);
}

TEST(RingBounds, LetBeginOfWhichNothingIsLeft) {
  Bounded of(mapped(4));
  Group& cancelled = admit(of.ring, slots_of("0 1"));
  cancelled.slots.clear();
  admit(of.ring, slots_of("2"));
  EXPECT_EQ(of.ring.startable(cancelled, kWide), 1) << "its place is to be made free";
  EXPECT_EQ(of.ring.startable(of.group(1), {.window = 2, .has_plenty = false}), 0) << "which it keeps until then";
  EXPECT_EQ(of.ring.startable_groups(kWide), 2);
}

}  // namespace
}  // namespace penstock::exec
