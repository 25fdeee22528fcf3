// The controller beside a consumer that computes on the same cores.
#include <gtest/gtest.h>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

// Steps of 80 ms, half of it on a CPU, then eight elements of 4 ms at once: with all cores busy for them the next step
// begins late.
ProcessSpec trainer() {
  ProcessSpec spec = process_of({computing(4)});
  spec.chains[0].consumer = {{.burst = 8, .cpu = 40 * kMs, .idle = 40 * kMs}};
  spec.host.niceness_is_reversible = false;
  return spec;
}

struct Seen {
  double delayed = 0;  // of the time, over the last ten of thirty seconds
  std::int64_t taken = 0;
};

Seen watch(SimulatedProcess& process) {
  process.run_until(20 * kSecond);
  const ConsumerSnapshot before = process.run(0).snapshot().consumer;
  process.run_until(30 * kSecond);
  const ConsumerSnapshot after = process.run(0).snapshot().consumer;
  return {static_cast<double>(after.delay_ns - before.delay_ns) / 10e9, after.taken - before.taken};
}

TEST(GiveWay, ByFewerPermitsWhereThePriorityCannotBeTakenBack) {
  SimulatedProcess plain(trainer(), 1);
  const Seen without = watch(plain);
  const auto process = tuned(trainer());
  const Seen with = watch(*process);
  ASSERT_GT(without.delayed, 0.05) << "or there is nothing to give way to";
  EXPECT_LT(with.delayed, without.delayed / 4);
  EXPECT_GE(with.taken, without.taken);
  EXPECT_EQ(process->run(0).knob("cpu_slots", -1).get(), 1);
}

TEST(GiveWay, ByPriorityAloneWhereThatIsEnough) {
  ProcessSpec spec = trainer();
  spec.host.niceness_is_reversible = true;
  const auto process = tuned(spec);
  process->run_until(20 * kSecond);
  EXPECT_EQ(process->run(0).knob("priority", -1).get(), 1);
  EXPECT_EQ(process->run(0).knob("cpu_slots", -1).get(), 2);
}

}  // namespace
}  // namespace penstock::exam
