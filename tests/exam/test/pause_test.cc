// A consumer that pauses, in virtual time.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

// Takes all that it gets for `taking` seconds, then nothing for `pause`, again and again.
std::vector<ConsumerPhase> cycles(double taking, double pause, int count) {
  std::vector<ConsumerPhase> phases;
  for (int i = 0; i < count; ++i) {
    const double begin = i * (taking + pause);
    phases.push_back({.from = static_cast<Time>(begin * kSecond)});
    phases.push_back({.from = static_cast<Time>((begin + taking) * kSecond), .idle = pause * kSecond});
  }
  return phases;
}

TEST(Pause, OfAConsumerThatIsFasterThanThePipelineLeavesTheBufferShallow) {
  for (const auto& [taking, pause] : {std::pair(10., 1.), {5., 1.}, {3., 1.}, {2., 2.}}) {
    ProcessSpec spec = process_of({waiting(5), computing(1)});
    spec.chains[0].consumer = cycles(taking, pause, 12);
    const auto process = tuned(spec);
    process->run_until(static_cast<Time>(12 * (taking + pause) * kSecond));
    EXPECT_LE(process->run(0).knob("prefetch").get(), 8) << taking << " + " << pause << " s";
  }
}

TEST(Pause, LeavesTheWindowAsItIs) {
  for (const double pause : {0.3, 10.}) {
    StageSpec reading = waiting(5);
    reading.blocked = Distribution::pareto(5 * kMs, 1.5, 250 * kMs);
    ProcessSpec spec = process_of({reading, computing(0.5)});
    spec.chains[0].consumer = cycles(20, pause, 2);
    const auto process = tuned(spec);
    process->run_until(20 * kSecond);
    const std::int64_t before = process->run(0).knob("window", 1).get();
    process->run_until(static_cast<Time>((20 + pause) * kSecond));
    EXPECT_EQ(process->run(0).knob("window", 1).get(), before) << pause << " s";
  }
}

}  // namespace
}  // namespace penstock::exam
