// Random graphs: what the list model says, the serial executor gives, and so does the engine on
// threads, whatever its knobs, threads and budget are, however often it is left, restarted or
// resumed. The environment's say: environment.h.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "tests/random/series.h"
#include "tests/support/random_graphs/pumped_driver.h"
#include "tests/support/under_sanitizer.h"

namespace random_graphs {
namespace {

// Each graph in all ways.
class WholeSeries final : public Series {
 public:
  using Series::Series;

  void check_and_print(std::int64_t count) {
    check(count);
    if (number_from_environment("PENSTOCK_SEED")) return;
    std::cout << coverage().table();
    if (::testing::Test::HasFailure() || is_smallest()) return;
    for (const std::string& line : coverage().shortfalls(static_cast<double>(count) / kGraphsOfThresholds))
      ADD_FAILURE() << "met too rarely: " << line;
  }

 private:
  // What coverage.cc asks for is meant for both tests together.
  static constexpr double kGraphsOfThresholds = 21'000;

  void try_graph(const Graph&, Trial& trial, Random& random) override {
    run("whole", &Trial::check_whole, serial_driver(), trial, random);
    run("whole", &Trial::check_whole, driver(), trial, random);
    run("abandoned", &Trial::check_abandoned, driver(), trial, random);
    const bool is_one_of_few = driver().on_threads;  // else one way is enough for each
    const bool skips = is_one_of_few || random.one_in(2);
    if (skips) run("errors skipped", &Trial::check_skipped, driver(), trial, random);
    if (is_one_of_few || !skips) run("resumed", &Trial::check_resumed, driver(), trial, random);
  }
};

TEST(RandomGraphs, GiveWhatTheModelSaysOnThreads) {
  WholeSeries series(engine_driver(), std::make_shared<ThreadCourier>(1), {});
  series.check_and_print(how_many(1'000));
}

TEST(RandomGraphs, GiveWhatTheModelSaysUnderAnySchedule) {
  if (UNDER_THREAD_SANITIZER) GTEST_SKIP() << "there is one thread: nothing that ThreadSanitizer could see";
  const auto courier = std::make_shared<PumpedCourier>();
  WholeSeries series(pumped_driver(courier), courier, {.jitter = false});
  series.check_and_print(how_many_pumped(20'000));
}

TEST(RandomGraphs, OfOneSeedHaveOneSchedule) {
  const auto schedules_of_a_series = [] {
    const auto courier = std::make_shared<PumpedCourier>();
    WholeSeries series(pumped_driver(courier), courier, {.jitter = false});
    for (std::uint64_t seed = 0; seed < 300; ++seed) series.check_graph(seed);
    return series.coverage().schedules;
  };
  EXPECT_EQ(schedules_of_a_series(), schedules_of_a_series());
}

}  // namespace
}  // namespace random_graphs
