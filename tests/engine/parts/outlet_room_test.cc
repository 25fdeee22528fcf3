// How much may be on its way to the consumer.
#include "lib/exec/outlet_room.h"

#include <algorithm>
#include <random>

#include "tests/engine/parts/part.h"
#include "tests/support/pumped.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Roomy {
  explicit Roomy(std::int64_t depth, std::int64_t widest = 100) : room(depth, widest, machine) {}

  std::int64_t now = 1000;
  const ClockedMachine machine{[this] { return now; }};
  OutletRoom room;
};

TEST(OutletRoom, IsItsDepthInTheBeginning) {
  Roomy of(7);
  EXPECT_EQ(of.room.capacity(), 7);
  EXPECT_EQ(of.room.top_up(), 7);
  EXPECT_EQ(of.room.top_up(), 0) << "they have been promised";
}

TEST(OutletRoom, IsWiderWhereSlotsAreWorthWaitingUpToTheWidest) {
  Roomy of(7, 20);
  of.room.receive(0, 15);
  EXPECT_EQ(of.room.capacity(), 15);
  of.room.receive(0, 1000);
  EXPECT_EQ(of.room.capacity(), 20);
  of.room.receive(0, 3);
  EXPECT_EQ(of.room.capacity(), 7);
}

TEST(OutletRoom, HasADepthOfOneAtTheLeast) {
  Roomy of(7);
  of.room.set_depth(0);
  EXPECT_EQ(of.room.depth(), 1);
}

TEST(OutletRoom, IsGivenBackInLumpsOfHalfOfIt) {
  Roomy of(10);
  of.room.top_up();
  of.room.receive(10, 0);
  EXPECT_EQ(of.room.take(4, false), 0);
  EXPECT_EQ(of.room.take(1, false), 5);
  EXPECT_EQ(of.room.take(1, false), 0);
  EXPECT_EQ(of.room.take(0, true), 1) << "nothing is ready: the last stage gets what there is";
}

TEST(OutletRoom, GivesNothingMoreUntilALowerDepthIsMet) {
  Roomy of(10);
  of.room.top_up();
  of.room.receive(10, 0);
  of.room.set_depth(4);
  EXPECT_EQ(of.room.top_up(), 0);
  EXPECT_EQ(of.room.take(6, true), 0);
  EXPECT_EQ(of.room.take(1, true), 1);
  of.room.set_depth(6);
  EXPECT_EQ(of.room.top_up(), 2);
}

// Full: all that was promised has come, and nothing of it has been taken.
TEST(OutletRoom, MeasuresHowLongItIsFull) {
  Roomy of(2);
  of.room.top_up();
  of.room.receive(1, 0);
  of.now += 10;
  EXPECT_EQ(of.room.full_ns(), 0);
  of.room.receive(1, 0);
  of.now += 7;
  EXPECT_EQ(of.room.full_ns(), 7) << "it goes on";
  of.room.take(1, false);
  of.now += 100;
  EXPECT_EQ(of.room.full_ns(), 7);
  of.room.receive(1, 0);
  of.now += 5;
  EXPECT_EQ(of.room.full_ns(), 12);
}

TEST(OutletRoom, IsNotFullBeforeAnythingHasCome) {
  Roomy of(2);
  of.now += 10;
  of.room.take(0, true);
  of.now += 10;
  EXPECT_EQ(of.room.full_ns(), 0);
}

// The last stage and the consumer keep books of their own: what may still be sent, what has come and what of it was
// taken and is not reported yet.
TEST(OutletRoom, PromisesWhatFitsWhoeverComesFirst) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    const std::int64_t depth = draw(1, 12), widest = draw(0, 40);
    Roomy of(depth, widest);
    std::int64_t worth = 0, credits = of.room.top_up(), come = 0;
    for (int step = 0; step < 200; ++step) {
      const std::int64_t before = credits + come, capacity = std::max(depth, std::min(worth, widest));
      if (draw(0, 1) == 0) {
        const std::int64_t count = draw(0, credits);
        worth = draw(0, 50);
        of.room.receive(count, worth);
        credits -= count, come += count;
        continue;
      }
      const std::int64_t count = draw(0, come);
      const bool is_empty = count == come;
      const std::int64_t more = of.room.take(count, is_empty),
                         room = std::max<std::int64_t>(capacity - (before - count), 0);
      come -= count, credits += more;
      ASSERT_EQ(more, is_empty || room >= capacity / 2 ? room : 0) << "seed " << seed << ", step " << step;
      ASSERT_GT(credits + come, 0) << "nobody may wait for ever";
    }
  }
}

}  // namespace
}  // namespace penstock::exec
