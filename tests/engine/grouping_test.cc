// How many elements one call gets, with the clock, the threads and the CPU permits in the test's hand.
#include <memory>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "tests/engine/support.h"
#include "tests/support/pumped.h"

namespace penstock::testing {
namespace {

constexpr std::int64_t kElements = 10'000;

// Calls of a map with 8 at once, of 30 us an element, where the process has `permits` CPU permits.
std::int64_t calls_of_map(std::int64_t permits, const MapOptions& options = {}) {
  std::int64_t time_ns = 0;
  const auto dataset = range(kElements).map([&time_ns](std::int64_t value) { return time_ns += 30'000, value; },
                                            Tunable::between(8, 9), options);
  exec::PermitGate gate(permits);
  exec::EngineSettings settings;
  settings.memory_bytes = std::int64_t{1} << 30;
  settings.gate = &gate;
  settings.permits = permits;
  const ClockedMachine machine([&time_ns] { return time_ns += 100; });
  settings.machine = &machine;
  const auto engine = exec::Engine::make(exec::compile(dataset.node()), settings, first_come());
  for (Slot slot; slot.kind() != Slot::Kind::pass_end;) engine->next(slot);
  const std::int64_t calls = engine->snapshot().stages[1].calls;
  engine->shut_down();
  return calls;
}

TEST(Grouping, SharesWhatWaitsWithThreadsThatAreFree) { EXPECT_GT(calls_of_map(8), 2 * calls_of_map(1)); }

TEST(Grouping, GivesOneElementToACallThatWaits) { EXPECT_EQ(calls_of_map(1, {.blocks = true}), kElements); }

}  // namespace
}  // namespace penstock::testing
