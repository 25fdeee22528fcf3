// A policy that begins where another run has ended, in virtual time.
#include <gtest/gtest.h>

#include <vector>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

ProcessSpec remote_files() {
  StageSpec reading = waiting(100);
  reading.form = StageSpec::Form::unknown;
  return process_of({reading, computing(2)});
}

struct Begun {
  SimulatedProcess process{remote_files(), 1};
  explicit Begun(const std::vector<autotune::KnobValue>& remembered) {
    auto policy = autotune::make_policy("penstock");
    policy->begin_at(remembered, process.run(0).knobs(), process.run(0).open_io());
    process.run(0).steer(std::move(policy));
  }
  std::int64_t taken_until(Time time) {
    process.run_until(time);
    return process.run(0).taken();
  }
  double steady_rate() {  // elements/s, from 10 s on
    const std::int64_t before = taken_until(10 * kSecond);
    return static_cast<double>(taken_until(20 * kSecond) - before) / 10;
  }
  std::vector<autotune::KnobValue> knobs() {
    std::vector<autotune::KnobValue> values;
    for (const Knob& knob : process.run(0).knobs()) values.push_back({knob.stage, knob.name, knob.get()});
    return values;
  }
};

TEST(WarmStart, IsAtItsRateSoonerThanAColdStart) {
  Begun cold({});
  const std::int64_t first = cold.taken_until(kSecond);
  const double steady = cold.steady_rate();
  Begun warm(cold.knobs());
  EXPECT_GT(warm.taken_until(kSecond), first);
  EXPECT_GT(warm.taken_until(kSecond), 0.85 * steady) << "the first results take 100 ms";
}

TEST(WarmStart, FindsTheWayWhereTheMemoryIsWrong) {
  const double steady = Begun({}).steady_rate();
  for (const std::int64_t calls : {1, 200}) {
    Begun misled(
        {{1, "placement", 1}, {1, "parallelism", calls}, {1, "window", 1}, {-1, "prefetch", 1}, {7, "parallelism", 3}});
    EXPECT_GT(misled.steady_rate(), 0.97 * steady) << calls;
  }
}

}  // namespace
}  // namespace penstock::exam
