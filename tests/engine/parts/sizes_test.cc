// How much a stage takes at once, keeps ready, and lets be under way.
#include "lib/exec/sizes.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

constexpr std::int64_t kMany = 10'000;  // more than a group may have

struct Sized : PartOf {
  using PartOf::PartOf;
  Meter meter{traits};
  Sizes sizes{traits, signs, knobs, meter};
};

std::int64_t same(std::int64_t value) { return value; }

TEST(Sizes, TakeOneByOneUntilACallHasEnded) {
  Sized of;
  EXPECT_EQ(of.sizes.group(kMany), 1);
  teach(of.meter, 1, 100, 8);
  EXPECT_GT(of.sizes.group(kMany), 1);
}

TEST(Sizes, TakeWhatMakesUpAGrainOrAWideStepOfWhatWaits) {
  Sized of;
  teach(of.meter, 1, 100, 8);
  EXPECT_EQ(of.sizes.group(1), 200) << "20 us";
  EXPECT_EQ(of.sizes.group(300), 300);
  EXPECT_EQ(of.sizes.group(kMany), kLargestGroup);
  Sized dear;
  teach(dear.meter, 1, 100'000, 8);
  EXPECT_EQ(dear.sizes.group(5), 5);
  EXPECT_EQ(dear.sizes.group(kMany), 20) << "2 ms";
  dear.knobs.grain_ns = 0;
  EXPECT_EQ(dear.sizes.group(kMany), 1);
}

TEST(Sizes, TakeOneByOneWhereCallsWait) {
  Sized of;
  teach(of.meter, 1, 100, 8);
  of.signs.on_pool = true;
  EXPECT_TRUE(exec::waits(of.traits, of.signs));
  EXPECT_EQ(of.sizes.group(kMany), 1);
  EXPECT_EQ(of.sizes.capacity(), of.knobs.buffer);
}

TEST(Sizes, TakeNoMoreThanASixteenthOfTheBudget) {
  Sized of;
  teach(of.meter, 1, 100, 1024);
  EXPECT_EQ(of.sizes.group(kMany), kBudget / 16 / 1024);
  Sized large;
  teach(large.meter, 1, 100, kBudget);
  EXPECT_EQ(large.sizes.group(kMany), 1);
}

TEST(Sizes, CutGroupsToWhatMayBeForcedWhenTheBudgetIsUsedUp) {
  Sized of;
  teach(of.meter, 1, 100, 100);
  of.host.memory().charge(kBudget);
  EXPECT_EQ(of.sizes.forced(), kBudget / 256 / 100);
  EXPECT_EQ(of.sizes.group(kMany), of.sizes.forced());
}

TEST(Sizes, ForceOneOrAsManyAsHoldNextToNothing) {
  Sized unknown, tiny, large;
  EXPECT_EQ(unknown.sizes.forced(), 1);
  teach(tiny.meter, 1, 100, 1);
  EXPECT_EQ(tiny.sizes.forced(), kLargestGroup);
  teach(large.meter, 1, 100, kBudget);
  EXPECT_EQ(large.sizes.forced(), 1);
}

TEST(Sizes, ShareTheUsersWindowAmongHisCalls) {
  Sized of(mapped(4));
  teach(of.meter, 1, 3000, 8);
  EXPECT_EQ(of.sizes.group(kMany), of.knobs.window / of.knobs.parallelism);
  Sized cheap(mapped(4));
  teach(cheap.meter, 1, 1000, 8);
  EXPECT_EQ(cheap.sizes.group(kMany), kLargestGroup) << "one thread after the other";
}

TEST(Sizes, KeepAsMuchReadyAsIsSmall) {
  Sized of;
  EXPECT_EQ(of.sizes.capacity(), of.knobs.buffer);
  teach(of.meter, 1, 100, 64);
  EXPECT_EQ(of.sizes.capacity(), kBudget / 64 / 64) << "a sixty-fourth of the budget";
  Sized tiny, large;
  teach(tiny.meter, 1, 100, 1);
  EXPECT_EQ(tiny.sizes.capacity(), 2 * kLargestGroup * tiny.knobs.parallelism) << "one more while one is run";
  teach(large.meter, 1, 100, 4096);
  EXPECT_EQ(large.sizes.capacity(), large.knobs.buffer);
}

TEST(Sizes, KeepNoMoreThanTheUserAsksFor) {
  Sized of(range(100).prefetch(3).map(same).node());
  of.knobs.buffer = 3;
  teach(of.meter, 1, 100, 1);
  EXPECT_EQ(of.sizes.capacity(), 3);
}

TEST(Sizes, LetNoMoreBeUnderWayThanTheUserLetsWaitBehind) {
  Sized of(range(100).map(same).prefetch(5).map(same).node());
  ASSERT_EQ(of.traits.plan.buffer_behind.low(), 5);
  teach(of.meter, 1, 100, 1);
  EXPECT_EQ(of.sizes.most_in_window(), of.knobs.window) << "as many as calls may pass each other by";
  of.knobs.parallelism = 1;
  EXPECT_EQ(of.sizes.most_in_window(), 5);
  Sized open;
  teach(open.meter, 1, 100, 1);
  EXPECT_EQ(open.sizes.most_in_window(), open.sizes.capacity());
  Sized stream(range(100).batch(2).prefetch(5).map([](const std::vector<std::int64_t>&) { return 0; }).node());
  EXPECT_EQ(stream.sizes.most_in_window(), stream.knobs.window) << "its inputs are not its results";
}

// Each group that leaves makes room for one as small: they would stay as small as the smallest ever was.
TEST(Sizes, LetAGroupWaitForMoreRoomThanItsCallIsWorth) {
  Sized of;
  teach(of.meter, 1, 100, 1);  // 200 are worth a call
  const std::int64_t most = of.sizes.most_in_window();
  EXPECT_EQ(of.sizes.admitted(kMany, most), 0);
  EXPECT_EQ(of.sizes.admitted(kMany, most - 199), 0);
  EXPECT_EQ(of.sizes.admitted(kMany, most - 200), 200);
  EXPECT_EQ(of.sizes.admitted(3, most - 3), 3) << "no more wait";
  EXPECT_EQ(of.sizes.admitted(3, most - 2), 0);
  EXPECT_EQ(of.sizes.admitted(0, 0), 0);
}

TEST(Sizes, LetNoGroupWaitWhereHalfTheWindowIsFree) {
  Sized of(range(100).map(same).prefetch(5).map(same).node());
  of.knobs.parallelism = 1;
  teach(of.meter, 1, 100, 1);
  ASSERT_EQ(of.sizes.most_in_window(), 5);
  EXPECT_EQ(of.sizes.admitted(kMany, 2), 3);
  EXPECT_EQ(of.sizes.admitted(kMany, 3), 0);
  EXPECT_EQ(of.sizes.admitted(2, 3), 2);
  Sized unknown;
  EXPECT_EQ(unknown.sizes.admitted(kMany, unknown.sizes.most_in_window() - 1), 1) << "one by one";
}

TEST(Sizes, AreCarefulOnceTheLimitHasBeenPassed) {
  Sized of;
  teach(of.meter, 1, 100, 5000);
  for (int i = 0; i < 20; ++i) teach(of.meter, 1, 100, 1000);
  EXPECT_DOUBLE_EQ(of.sizes.expected_bytes(), of.meter.bytes());
  of.host.memory().overshoot(kBudget + 1);
  EXPECT_GT(of.sizes.expected_bytes(), of.meter.bytes());
  EXPECT_DOUBLE_EQ(of.sizes.expected_bytes(), of.meter.expected_bytes(true));
  Sized passes_on(range(10).filter([](std::int64_t) { return true; }).node());
  teach(passes_on.meter, 1, 100, 5000);
  teach(passes_on.meter, 1, 100, 1000);
  passes_on.host.memory().overshoot(kBudget + 1);
  EXPECT_DOUBLE_EQ(passes_on.sizes.expected_bytes(), passes_on.meter.bytes()) << "it holds nothing of its own";
}

TEST(Sizes, SayHowManyResultsAreWorthWaitingFor) {
  Sized of, dear, many;
  EXPECT_EQ(of.sizes.worth_waiting(), 0);
  teach(of.meter, 1, 100, 64);
  EXPECT_EQ(of.sizes.worth_waiting(), kBudget / 64 / 64);
  teach(dear.meter, 1, 2'000'000, 64);
  EXPECT_EQ(dear.sizes.worth_waiting(), dear.sizes.capacity() / 2);
  Sealed ten;
  ten.elements = 10;
  many.meter.learn(Group(), 1, 640, 100);
  many.meter.count_results(ten);
  EXPECT_EQ(many.sizes.worth_waiting(), kBudget / 64 / 640 * 10) << "each input becomes ten";
}

TEST(Sizes, CallCheapWhatIsKnownToComeSoon) {
  Sized of, dear;
  EXPECT_FALSE(of.sizes.is_cheap());
  teach(of.meter, 1, 999'999, 8);
  EXPECT_TRUE(of.sizes.is_cheap());
  teach(dear.meter, 1, 1'000'000, 8);
  EXPECT_FALSE(dear.sizes.is_cheap());
}

}  // namespace
}  // namespace penstock::exec
