// Random graphs: what the list model says, the serial executor gives, and so does the engine on
// threads, whatever its knobs, threads and budget are, however often it is left, restarted or
// resumed. The environment's say: environment.h.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "tests/random/environment.h"
#include "tests/random/pumped_driver.h"
#include "tests/random/trial.h"
#include "tests/random/watchdog.h"

namespace random_graphs {
namespace {

// One graph after the other, on one driver.
class Series {
 public:
  Series(Driver driver, std::shared_ptr<Courier> courier, const Limits& limits)
      : driver_(std::move(driver)), limits_(limits), bench_{std::move(courier), folder_.path()} {}

  std::uint64_t schedules() const { return coverage_.schedules; }

  // Stops at the first failure: its seed is all that is needed.
  void check(std::int64_t count) {
    if (const auto seed = number_from_environment("PENSTOCK_SEED")) return check_graph(*seed);
    for (std::int64_t i = 0; i < count && !testing::Test::HasFailure(); ++i)
      check_graph(static_cast<std::uint64_t>(i));
    std::cout << coverage_.table();
    if (testing::Test::HasFailure()) return;
    for (const std::string& line :
         coverage_.shortfalls(static_cast<double>(count) / kGraphsOfThresholds))
      ADD_FAILURE() << "met too rarely: " << line;
  }

  using Check = void (Trial::*)(const Driver&, Random&, Coverage&);

  void check_graph(std::uint64_t seed) {
    const Graph graph = draw_graph(seed, limits_);
    coverage_.add_graph(graph);
    const std::string again = "PENSTOCK_SEED=" + std::to_string(seed) + ": " + graph.text();
    Trial trial(graph, bench_);
    Random random(seed ^ 0x5EED);
    const auto run = [&](const std::string& what, Check compare, const Driver& driver) {
      const std::string now = what + " by " + driver.name + ", " + again;
      if (number_from_environment("PENSTOCK_TRACE")) std::cerr << now << std::endl;
      watchdog_.watch(now);
      try {
        (trial.*compare)(driver, random, coverage_);
      } catch (const std::exception& failure) {
        ADD_FAILURE() << failure.what() << '\n' << now;
      }
    };
    run("whole", &Trial::check_whole, serial_driver());
    run("whole", &Trial::check_whole, driver_);
    run("abandoned", &Trial::check_abandoned, driver_);
    if (!driver_.on_threads) return;
    run("errors skipped", &Trial::check_skipped, driver_);
    if (!graph.arbitrary) run("resumed", &Trial::check_resumed, driver_);
  }

 private:
  // What coverage.cc asks for is meant for both tests together.
  static constexpr double kGraphsOfThresholds = 21'000;

  const Driver driver_;
  const Limits limits_;
  const Folder folder_;
  const Workbench bench_;
  Coverage coverage_;
  Watchdog watchdog_;
};

TEST(RandomGraphs, GiveWhatTheModelSaysOnThreads) {
  Series series(engine_driver(), std::make_shared<ThreadCourier>(1), {});
  series.check(graphs(1'000));
}

TEST(RandomGraphs, GiveWhatTheModelSaysUnderAnySchedule) {
  const auto courier = std::make_shared<PumpedCourier>();
  Series series(pumped_driver(courier), courier, {.jitter = false});
  series.check(graphs(20'000));
}

TEST(RandomGraphs, OfOneSeedHaveOneSchedule) {
  const auto schedules_of_a_series = [] {
    const auto courier = std::make_shared<PumpedCourier>();
    Series series(pumped_driver(courier), courier, {.jitter = false});
    for (std::uint64_t seed = 0; seed < 300; ++seed) series.check_graph(seed);
    return series.schedules();
  };
  EXPECT_EQ(schedules_of_a_series(), schedules_of_a_series());
}

}  // namespace
}  // namespace random_graphs
