// Random graphs whose functions, sources and memory fail at random: whatever is thrown wherever, completions lost, runs
// left or resumed at any place. Nothing hangs (a watchdog ends the program), all comes as the list model says, and the
// counts add up: elements seen = delivered + errors + dropped. Under LeakSanitizer nothing leaks. The environment's
// say: environment.h.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "tests/random/series.h"
#include "tests/support/random_graphs/faults.h"
#include "tests/support/random_graphs/pumped_driver.h"

namespace random_graphs {
namespace {

// Each graph in one way: a run, or two where it is resumed, beside the serial ones that tell orders of shuffles.
class FaultSeries final : public Series {
 public:
  using Series::Series;

 private:
  void try_graph(const Graph&, Trial& trial, Random& random) override {
    const Driver& who = driver().on_threads && random.one_in(8) ? serial : driver();
    switch (random.below(4)) {
      case 0: return run("whole", &Trial::check_whole, who, trial, random);
      case 1: return run("abandoned", &Trial::check_abandoned, driver(), trial, random);
      case 2: return run("errors skipped", &Trial::check_skipped, who, trial, random);
      default: return run("resumed", &Trial::check_resumed, who, trial, random);
    }
  }

  const Driver serial = serial_driver();
};

// Errors with these words, among others.
std::int64_t errors_with(const Coverage& met, const std::string& words) {
  std::int64_t count = 0;
  for (const auto& [kind, errors] : met.faults) count += kind.find(words) == std::string::npos ? 0 : errors;
  return count;
}

// A series that meets some kind of fault too rarely shows nothing.
void expect_all_kinds(const Coverage& met, std::int64_t graphs) {
  for (const char* kind : {"fails on #", "unknown exception", "a disk: Input/output error", "out of memory",
                           "completion was dropped without an answer"})
    EXPECT_GE(errors_with(met, kind), graphs / 10) << kind;
  EXPECT_GE(met.abandonments, graphs / 10);
}

void check(FaultSeries& series, std::int64_t count) {
  series.check(count);
  if (number_from_environment("PENSTOCK_SEED")) return;
  std::cout << series.coverage().fault_table();
  if (::testing::Test::HasFailure() || is_smallest()) return;
  expect_all_kinds(series.coverage(), count);
  EXPECT_GE(series.coverage().dropped, count / 20);
}

TEST(RandomFaults, AreDeliveredAndCountedOnThreads) {
  FaultSeries series(engine_driver(), std::make_shared<ThreadCourier>(1), {.faults = true});
  check(series, how_many(1'000));
}

TEST(RandomFaults, AreDeliveredAndCountedUnderAnySchedule) {
  const auto courier = std::make_shared<PumpedCourier>();
  FaultSeries series(pumped_driver(courier), courier, {.jitter = false, .faults = true});
  check(series, how_many(5'000));
}

// The faults themselves are what they are said to be.
TEST(RandomFaults, AreOfAllKinds) {
  const auto code_of_fault = [](std::int64_t kind) {
    try {
      throw_fault({.any_fault = true}, model::number(2 * kind));
    } catch (...) {
      return ps::code_of(std::current_exception());
    }
  };
  using ps::ErrorCode;
  EXPECT_EQ(code_of_fault(0), ErrorCode::data_loss);
  EXPECT_EQ(code_of_fault(1), ErrorCode::internal);
  EXPECT_EQ(code_of_fault(2), ErrorCode::internal);
  EXPECT_EQ(code_of_fault(3), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of_fault(4), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of_fault(5), ErrorCode::unavailable);
  EXPECT_THROW(take_too_much_payload(), std::bad_alloc);
}

}  // namespace
}  // namespace random_graphs
