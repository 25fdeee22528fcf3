// What the last stage is told about room for its results.
#include "lib/exec/outlet.h"

#include <optional>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"

#include "tests/engine/support.h"
#include "tests/support/pumped.h"

namespace penstock::exec {
namespace {

using testing::eventually;

Packet packet_of(std::size_t slots, std::int64_t worth_waiting) {
  Packet packet;
  packet.slots.resize(slots);
  packet.worth_waiting = worth_waiting;
  return packet;
}

// Nothing but what arrives ends it.
void wait_at(Outlet& outlet) {
  static constexpr std::chrono::nanoseconds second = std::chrono::seconds(1);
  outlet.wait(kNever, second, [] { return second; });
}

TEST(Outlet, GivesTheRoomThatGrewWhileNothingWasThere) {
  Outlet outlet(2, 100, system_machine());
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

// A consumer: sleeps so many times, and takes all that is there each time it wakes.
void take_what_comes(Outlet& outlet, std::atomic<int>& arrivals, int times) {
  Slot slot;
  for (std::int64_t credits = 0; arrivals < times; ++arrivals) {
    wait_at(outlet);
    while (outlet.pop(slot, credits)) outlet.count_taken(false);
  }
}

bool has_sleeper(const Outlet& outlet) {
  ConsumerSnapshot now;
  outlet.snapshot(now);
  return now.waiting;
}

// Woken just now, and more is about to come: it sleeps on until that is as many. Where nothing more is, the first slot
// is all that it can wait for. (After 6 ms it is woken in any case.)
void expect_woken_at(std::int64_t slots, std::int64_t depth) {
  const testing::ClockedMachine machine([] { return std::int64_t{1}; });  // no time passes
  Outlet outlet(depth, depth, machine);
  std::atomic<int> arrivals{0};
  const std::jthread consumer([&] { take_what_comes(outlet, arrivals, 3); });
  const auto sleeps = [&] { return has_sleeper(outlet); };
  Packet first = packet_of(1, 0), too_few = packet_of(slots - 1, 0), last_of_them = packet_of(1, 0);
  too_few.more_soon = last_of_them.more_soon = true;
  EXPECT_TRUE(eventually(sleeps));
  outlet.receive(first);
  EXPECT_TRUE(eventually([&] { return arrivals == 1 && sleeps(); }));
  outlet.receive(too_few);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(arrivals, 1);
  outlet.receive(last_of_them);
  EXPECT_TRUE(eventually([&] { return arrivals == 2 && sleeps(); }));
  Packet alone = packet_of(1, 0);
  outlet.receive(alone);
  EXPECT_TRUE(eventually([&] { return arrivals == 3; }));
  for (int i = 0; i < 3; ++i) {  // ends the consumer where that has failed
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Packet last = packet_of(1, 0);
    outlet.receive(last);
  }
}

TEST(Outlet, WakesAConsumerAtHalfItsDepthOrWhenNothingMoreIsUnderWay) { expect_woken_at(50, 100); }
TEST(Outlet, WakesAConsumerAtHalfOfALargeGroup) { expect_woken_at(kLargestGroup / 2, 2000); }

// A consumer that was woken just now sleeps on beside the first of several slots; not when no more can come until it
// takes that one.
TEST(Outlet, WakesAConsumerThatWaitsForMoreWhenMemoryIsShort) {
  Outlet outlet(100, 100, system_machine());
  std::atomic<int> arrivals{0};
  const std::jthread consumer([&] { take_what_comes(outlet, arrivals, 2); });
  const auto sleeps = [&] { return has_sleeper(outlet); };
  Packet first = packet_of(1, 0), second = packet_of(1, 0);
  second.more_soon = true;
  EXPECT_TRUE(eventually(sleeps));
  outlet.receive(first);
  EXPECT_TRUE(eventually([&] { return arrivals == 1 && sleeps(); }));
  outlet.receive(second);
  outlet.wake();
  EXPECT_TRUE(eventually([&] { return arrivals == 2; }));
  outlet.receive(first);  // ends the consumer where that has failed
}

// Asked again and again for a moment only, it would never look after what is done in open calls. A deadline that has
// passed needs no clock.
TEST(Outlet, LooksAtTheDeadlineIfTheLastLookIsLongAgo) {
  Outlet outlet(2, 2, system_machine());
  constexpr std::chrono::nanoseconds now = std::chrono::nanoseconds(0), never = std::chrono::hours(1);
  constexpr std::int64_t over = 0;
  int looks = 0;
  const auto look = [&] {
    Packet part = packet_of(looks++ == 0 ? 0 : 1, 0);
    outlet.receive(part);
    return never;
  };
  EXPECT_FALSE(outlet.wait(over, now, look));
  EXPECT_EQ(looks, 1);
  EXPECT_FALSE(outlet.wait(over, never, look)) << "a look has just been";
  EXPECT_EQ(looks, 1);
  EXPECT_TRUE(outlet.wait(over, now, look)) << "what it brought is there";
  EXPECT_EQ(looks, 2);
}

// Its next element may come late, and the consumer must not sleep beside the one before.
TEST(Outlet, IsPromisedNothingByAGenerator) {
  const auto source_of = [](const auto& dataset) { return compile(dataset.node())->stages.front(); };
  EXPECT_TRUE(source_of(range(3)).is_prompt);
  EXPECT_FALSE(source_of(from_generator([] { return std::optional<int>(); })).is_prompt);
}

// The most that waits for a consumer that lets the engine run as far as it can before it takes each slot.
template <class T> std::int64_t most_ready(const Dataset<T>& dataset, int slots) {
  std::int64_t time_ns = 0;
  EngineSettings settings;
  settings.memory_bytes = std::int64_t{1} << 30;
  const testing::ClockedMachine machine([&time_ns] { return time_ns += 1000; });
  settings.machine = &machine;
  auto launcher = testing::first_come();
  QueueLauncher& queue = *launcher;
  const auto engine = Engine::make(compile(dataset.node()), settings, std::move(launcher));
  std::int64_t most = 0;
  for (; slots > 0; --slots) {
    while (queue.run_one()) {
    }
    most = std::max(most, engine->snapshot().consumer.ready);
    Slot slot;
    engine->next(slot);
  }
  engine->shut_down();
  return most;
}

// However cheap its rows are: a batch is as large as they are together.
TEST(Outlet, HoldsFewBatchesOfManyRows) { EXPECT_LE(most_ready(range(1'000'000).batch(1024), 100), 4); }

// They say nothing about the size of elements.
TEST(Outlet, HoldsFewLargeElementsBehindManyErrors) {
  const auto dataset = range(2000).map([](std::int64_t value) {
    if (value < 1000) throw std::runtime_error("no picture");
    return std::string(10'000, 'x');
  });
  EXPECT_LE(most_ready(dataset.map([](const std::string& text) { return text + "x"; }), 1500), 4);
}

}  // namespace
}  // namespace penstock::exec
