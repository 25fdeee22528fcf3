// What a call may use of the memory.
#include "lib/exec/call_memory.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::exec {
namespace {

TEST(CallMemory, KnowsNothingBeforehand) {
  const CallMemory memory;
  EXPECT_FALSE(memory.has_hint());
  EXPECT_EQ(memory.hint_each(10), CallMemory::kNoHint);
  EXPECT_EQ(memory.reserved + memory.reserved_since + memory.needs, 0);
}

TEST(CallMemory, HasAHintOfNothing) {
  CallMemory memory;
  memory.hint = 0;
  EXPECT_TRUE(memory.has_hint());
  EXPECT_EQ(memory.hint_each(10), 0);
}

TEST(CallMemory, DividesItsHintAmongElements) {
  CallMemory memory;
  memory.hint = 1000;
  EXPECT_EQ(memory.hint_each(4), 250);
  EXPECT_EQ(memory.hint_each(0), 1000) << "errors alone: all of it would be one's";
}

TEST(CallMemory, SplitsOffTheShareOfWhatLeaves) {
  CallMemory memory;
  memory.reserved = 1000;
  memory.hint = 500;
  memory.needs = 70;
  memory.is_forced = true;
  const CallMemory share = memory.split_off(2, 5);
  EXPECT_EQ(share.reserved, 400);
  EXPECT_EQ(share.hint, 200);
  EXPECT_EQ(share.needs, 0) << "it has been run";
  EXPECT_FALSE(share.is_forced);
  EXPECT_EQ(memory.reserved, 600);
  EXPECT_EQ(memory.hint, 300);
  EXPECT_EQ(memory.needs, 70);
  EXPECT_TRUE(memory.is_forced);
}

TEST(CallMemory, SplitsOffNoHintWhereThereIsNone) {
  CallMemory memory;
  memory.reserved = 100;
  EXPECT_FALSE(memory.split_off(1, 2).has_hint());
  EXPECT_FALSE(memory.has_hint());
}

// One slot after the other, however the call goes on: the books have the sum.
TEST(CallMemory, LosesNothingOfWhatIsReservedInParts) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    CallMemory memory;
    std::int64_t booked = memory.reserved = draw(0, 1000), gone = 0;
    for (std::int64_t left = draw(1, 20); left > 0;) {
      const std::int64_t count = draw(1, left), more = draw(0, 1) * draw(0, 100);
      memory.reserved += more, booked += more;
      gone += memory.split_off(count, left).let_go();
      left -= count;
      ASSERT_EQ(gone + memory.reserved, booked) << "seed " << seed;
    }
    ASSERT_EQ(memory.reserved, 0) << "the last one takes all; seed " << seed;
  }
}

TEST(CallMemory, LetsGoOfAllOnce) {
  CallMemory memory;
  memory.reserved = 100;
  memory.reserved_since = 20;
  EXPECT_EQ(memory.let_go(), 120);
  EXPECT_EQ(memory.let_go(), 0);
}

TEST(CallMemory, TakesOverWhatOthersReservedForIt) {
  CallMemory memory;
  memory.reserved = 100;
  memory.reserved_since = 20;
  memory.take_over();
  EXPECT_EQ(memory.reserved, 120);
  EXPECT_EQ(memory.reserved_since, 0);
}

TEST(CallMemory, ForgetsWhatOtherInputsNeeded) {
  CallMemory memory;
  memory.hint = 50, memory.needs = 100, memory.reserved = 7;
  memory.forget_hint();
  EXPECT_FALSE(memory.has_hint());
  EXPECT_EQ(memory.needs, 100);
  memory.hint = 50;
  memory.forget_needs();
  EXPECT_FALSE(memory.has_hint());
  EXPECT_EQ(memory.needs, 0);
  EXPECT_EQ(memory.reserved, 7) << "that is on the books";
}

}  // namespace
}  // namespace penstock::exec
