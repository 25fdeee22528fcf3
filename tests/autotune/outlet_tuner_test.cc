// How many elements wait ready for the consumer.
#include "autotune/outlet_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

// A consumer and its buffer, in ticks of 10 ms: the buffer is filled at `rate` elements a tick as far as it has room.
class Consumer {
 public:
  explicit Consumer(std::int64_t depth) {
    now_.consumer.prefetch = depth;
    now_.memory_limit = std::int64_t{1} << 30;
  }

  // Wants so many in this tick; what is not there it waits for.
  void tick(std::int64_t wanted, std::int64_t rate) {
    now_.time_ns += 10 * kMs;
    wanted_ += wanted;
    ConsumerSnapshot& consumer = now_.consumer;
    const std::int64_t had = consumer.ready;
    const std::int64_t taken = std::min(wanted_, had + rate);
    consumer.taken += taken;
    wanted_ -= taken;
    if (wanted_ > 0 || taken > had) ++consumer.waits;
    if (wanted_ > 0) consumer.wait_ns += 10 * kMs;
    consumer.waiting = wanted_ > 0;
    consumer.ready = std::min(had + rate - taken, consumer.prefetch);
    if (consumer.ready == consumer.prefetch) consumer.full_ns += 10 * kMs;
    Traffic traffic;
    meter_.read(now_, {}, traffic);
    traffic.attainable = static_cast<double>(rate) * 100;
    if (const auto wish = tuner_.wish(now_, traffic)) consumer.prefetch = wish->to;
  }
  void burst(std::int64_t size, int pause, std::int64_t rate) {
    tick(size, rate);
    while (wanted_ > 0) tick(0, rate);
    for (int i = 0; i < pause; ++i) tick(0, rate);
  }
  // Takes all that there is, and waits for more.
  void take_all(int ticks, std::int64_t rate) {
    for (int i = 0; i < ticks; ++i) tick(2 * rate, rate);
    wanted_ = 0;
    now_.consumer.waiting = false;
  }
  void rest(int ticks, std::int64_t rate) {
    for (int i = 0; i < ticks; ++i) tick(0, rate);
  }
  std::int64_t depth() const { return now_.consumer.prefetch; }
  std::int64_t waits() const { return now_.consumer.waits; }

 private:
  TrafficMeter meter_;
  OutletTuner tuner_;
  Snapshot now_;
  std::int64_t wanted_ = 0;
};

TEST(OutletTuner, IsAsDeepAsABurstAfterThreeOfThem) {
  Consumer consumer(2);
  for (int i = 0; i < 3; ++i) consumer.burst(32, 10, 4);
  EXPECT_GE(consumer.depth(), 28);  // less what comes in meanwhile
  EXPECT_LE(consumer.depth(), 64);
}

TEST(OutletTuner, IsShallowAgainSomeTimeAfterTheBursts) {
  Consumer consumer(2);
  for (int i = 0; i < 10; ++i) consumer.burst(32, 10, 4);
  for (int i = 0; i < 2'000; ++i) consumer.tick(1, 4);  // 20 s
  EXPECT_LE(consumer.depth(), 8);
}

TEST(OutletTuner, DoesNotKeepRoomForALargeBurstWhereOnlySmallOnesFollow) {
  Consumer consumer(2);
  for (int i = 0; i < 10; ++i) consumer.burst(32, 10, 4);
  ASSERT_GE(consumer.depth(), 28);
  for (int i = 0; i < 300; ++i) consumer.burst(8, 10, 4);  // half a minute
  EXPECT_LE(consumer.depth(), 16);
}

TEST(OutletTuner, StaysShallowForAConsumerThatIsAlwaysServed) {
  Consumer consumer(2);
  for (int i = 0; i < 2'000; ++i) consumer.tick(i % 2, 2);
  EXPECT_LE(consumer.depth(), 4);
}

TEST(OutletTuner, DoesNotDeepenForAConsumerThatIsFasterThanThePipeline) {
  Consumer consumer(2);
  for (int i = 0; i < 1'000; ++i) consumer.tick(3, 2);
  EXPECT_LE(consumer.depth(), 4);
}

// Whether a buffer is deeper than it must be is seen while it is used.
TEST(OutletTuner, IsAsDeepAfterALongPauseAsBefore) {
  Consumer consumer(2);
  for (int i = 0; i < 20; ++i) {  // every other second nothing arrives for 0.15 s
    for (int tick = 0; tick < 185; ++tick) consumer.tick(1, 4);
    for (int tick = 0; tick < 15; ++tick) consumer.tick(1, 0);
  }
  const std::int64_t before = consumer.depth();
  ASSERT_GE(before, 15);
  for (int tick = 0; tick < 6'000; ++tick) consumer.tick(0, 4);
  EXPECT_EQ(consumer.depth(), before);
}

// Every five seconds nothing arrives for 0.15 s. After two seconds of calm it is made shallower, which is found to be
// wrong; so it is left as it is for longer each time.
TEST(OutletTuner, DoesNotTakeAwayAgainAndAgainWhatIsNeededNowAndThen) {
  Consumer consumer(2);
  const auto waits_in = [&](int periods) {
    const std::int64_t before = consumer.waits();
    for (int i = 0; i < periods; ++i) {
      for (int tick = 0; tick < 485; ++tick) consumer.tick(1, 4);
      for (int tick = 0; tick < 15; ++tick) consumer.tick(1, 0);
    }
    return consumer.waits() - before;
  };
  EXPECT_GT(waits_in(20), 10);
  EXPECT_LE(waits_in(20), 2);
}

// Of what is filled in a pause there is nothing left a moment later.
TEST(OutletTuner, DoesNotDeepenForThePausesOfAConsumerThatIsFasterThanThePipeline) {
  for (const auto& [taking, pause] : {std::pair(1'000, 100), {500, 100}, {300, 100}, {200, 200}, {500, 30}}) {
    Consumer consumer(2);
    for (int i = 0; i < 20; ++i) {
      consumer.take_all(taking, 20);
      consumer.rest(pause, 20);
    }
    EXPECT_LE(consumer.depth(), 4) << taking << " + " << pause << " ticks";
  }
}

// In the ticks in which it takes nothing the buffer fills all the same.
TEST(OutletTuner, DoesNotTakeEvenStepsForABurst) {
  Consumer consumer(2);
  for (int i = 0; i < 300; ++i) {
    consumer.tick(3, 2);
    consumer.tick(0, 2);
  }
  consumer.rest(50, 2);
  EXPECT_LE(consumer.depth(), 8);
}

TEST(OutletTuner, DoesNotDeepenOnceTheBurstsAreOver) {
  Consumer consumer(2);
  for (int i = 0; i < 40; ++i) consumer.burst(32, 30, 4);
  const std::int64_t deep = consumer.depth();
  std::int64_t deepest = 0;
  for (int i = 0; i < 2'000; ++i) {
    consumer.take_all(1, 4);
    deepest = std::max(deepest, consumer.depth());
  }
  EXPECT_LE(deepest, deep);
}

TEST(OutletTuner, DoesNotTakeAnEpochOfASlowPipelineForABurst) {
  Consumer consumer(2);
  for (int epoch = 0; epoch < 5; ++epoch) consumer.burst(60, 4, 1);  // it waits for each of them, then pauses for 40 ms
  EXPECT_LE(consumer.depth(), 8);
}

}  // namespace
}  // namespace penstock::autotune
