// What the last stage is told about room for its results.
#include "lib/exec/outlet.h"

#include <optional>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

using testing::eventually;

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

// A consumer that was woken just now sleeps on beside the first of several slots; not when no more can come until it takes that one.
TEST(Outlet, WakesAConsumerThatWaitsForMoreWhenMemoryIsShort) {
  Outlet outlet(100, 100);
  std::atomic<int> arrivals{0};
  const std::jthread consumer([&] {
    Slot slot;
    for (std::int64_t credits = 0; arrivals < 2; ++arrivals) {
      outlet.wait(nullptr);
      while (outlet.pop(slot, credits)) outlet.count_taken(false);
    }
  });
  const auto sleeps = [&] {
    ConsumerSnapshot now;
    outlet.snapshot(now);
    return now.waiting;
  };
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

// Its next element may come late, and the consumer must not sleep beside the one before.
TEST(Outlet, IsPromisedNothingByAGenerator) {
  const auto source_of = [](const auto& dataset) { return compile(dataset.node())->stages.front(); };
  EXPECT_TRUE(source_of(range(3)).is_prompt);
  EXPECT_FALSE(source_of(from_generator([] { return std::optional<int>(); })).is_prompt);
}

// The most that waits for a consumer that lets the engine run as far as it can before it takes each slot.
template <class T>
std::int64_t most_ready(const Dataset<T>& dataset, int slots) {
  std::int64_t time_ns = 0;
  EngineSettings settings;
  settings.memory_bytes = std::int64_t{1} << 30;
  settings.clock = [&time_ns] { return time_ns += 1000; };
  settings.choice = [](const std::vector<std::size_t>&) { return 0; };
  const auto engine = Engine::make(compile(dataset.node()), settings);
  std::int64_t most = 0;
  for (; slots > 0; --slots) {
    while (engine->queue()->run_one()) {
    }
    most = std::max(most, engine->snapshot().consumer.ready);
    Slot slot;
    engine->next(slot, nullptr);
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
