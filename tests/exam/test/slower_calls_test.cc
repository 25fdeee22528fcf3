// The controller where calls begin to last eight times as long, and there are eight times too few of them.
#include <gtest/gtest.h>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

constexpr Time kChange = 10 * kSecond;
constexpr double kWanted = 135;  // elements/s

ProcessSpec slower_calls() {
  StageSpec reading = waiting(37);
  reading.blocked = Distribution::lognormal(37 * kMs, 0.5);
  reading.blocked_times.steps = {{kChange, 8}};
  ProcessSpec spec = process_of({reading, computing(1.85)});
  spec.chains[0].consumer = {{.idle = kSecond / kWanted}};
  return spec;
}

// Without a call that has finished their ages are all that is known.
TEST(SlowerCalls, AreMoreAtOnceBeforeTheFirstHasFinished) {
  double delivered = 0, calls = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto process = tuned(slower_calls(), seed);
    process->run_until(kChange + kSecond / 5);
    calls += static_cast<double>(process->run(0).knob("parallelism", 1).get()) / 40;
    process->run_until(kChange + kSecond / 2);
    const auto before = process->run(0).taken();
    process->run_until(kChange + 3 * kSecond / 2);
    delivered += static_cast<double>(process->run(0).taken() - before) / 40;
  }
  EXPECT_GT(calls, 0.7 * kWanted * 8 * 0.037) << "a fifth of a second after the change, while calls take 0.3 s";
  EXPECT_GT(delivered, 0.63 * kWanted);
}

// Files from memory, one in some hundreds of which takes far longer, and then all from a store that is 100 times as
// slow: by the spread of what has been seen, and with the one call that was enough, it takes seconds to be sure.
ProcessSpec slower_files(Time change) {
  StageSpec reading = waiting(0.1);
  reading.cpu = Distribution::pareto(0.1 * kMs, 1.5, 30 * kMs);
  reading.blocked_times.steps = {{change, 200}};
  return process_of({reading, computing(1.8)});
}

// Whatever the controller is about then: it has just moved a knob, or is trying fewer calls.
TEST(SlowerCalls, AreNoticedByTheFirstFewOfThem) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Time change = static_cast<Time>(seed) * kSecond / 6;
    const auto process = tuned(slower_files(change), seed);
    process->run_until(change + kSecond);
    const auto before = process->run(0).taken();
    process->run_until(change + 2 * kSecond);
    EXPECT_GT(process->run(0).taken() - before, 800) << "of 1,100 that two cores allow, in the second second after "
                                                     << static_cast<double>(change) / kSecond << " s";
  }
}

// A fifth of a second in which all calls that begin are slow, and then it is over.
ProcessSpec hiccup(Time at) {
  StageSpec reading = waiting(10);
  reading.blocked = Distribution::lognormal(10 * kMs, 0.4);
  reading.blocked_times.steps = {{at, 20}, {at + kSecond / 5, 1}};
  ProcessSpec spec = process_of({reading, computing(1)});
  spec.chains[0].consumer = {{.idle = kSecond / 1000.0}};
  return spec;
}

TEST(SlowerCalls, ForAMomentCostLittleMore) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Time at = 20 * kSecond;
    const auto process = tuned(hiccup(at), seed);
    process->run_until(at + kSecond);
    const auto before = process->run(0).taken();
    process->run_until(at + 3 * kSecond);
    EXPECT_GT(process->run(0).taken() - before, 1'900) << "of 2,000, seed " << seed;
  }
}

}  // namespace
}  // namespace penstock::exam
