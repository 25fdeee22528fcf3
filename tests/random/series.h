// One random graph after the other: their trials, watched, and what they have met.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/environment.h"
#include "tests/support/random_graphs/trial.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/watchdog.h"

namespace random_graphs {

using penstock::test::how_many;
using penstock::test::how_many_pumped;
using penstock::test::is_smallest;
using penstock::test::number_from_environment;
using penstock::test::Watchdog;

class Series {
 public:
  Series(Driver driver, std::shared_ptr<Courier> courier, const Limits& limits)
      : driver_(std::move(driver)), limits_(limits), bench_{std::move(courier), folder_.path()} {}
  virtual ~Series() = default;

  const Coverage& coverage() const { return coverage_; }
  const Driver& driver() const { return driver_; }

  // Stops at the first failure: its seed is all that is needed.
  void check(std::int64_t count) {
    if (const auto seed = number_from_environment("PENSTOCK_SEED")) return check_graph(*seed);
    for (std::int64_t i = 0; i < count && !::testing::Test::HasFailure(); ++i)
      check_graph(static_cast<std::uint64_t>(i));
  }

  void check_graph(std::uint64_t seed) {
    Graph graph = draw_graph(seed, limits_);
    alter(graph, seed);
    coverage_.add_graph(graph);
    name_ = "PENSTOCK_SEED=" + std::to_string(seed) + ": " + graph.text();
    Trial trial(graph, bench_);
    Random random(seed ^ 0x5EED);
    try_graph(graph, trial, random);
  }

 protected:
  using Check = void (Trial::*)(const Driver&, Random&, Coverage&);

  // Before it is built.
  virtual void alter(Graph&, std::uint64_t /*seed*/) {}

  // Which checks a graph goes through.
  virtual void try_graph(const Graph& graph, Trial& trial, Random& random) = 0;

  void run(const char* what, Check compare, const Driver& driver, Trial& trial, Random& random) {
    const std::string now = std::string(what) + " by " + driver.name + ", " + name_;
    if (number_from_environment("PENSTOCK_TRACE")) std::cerr << now << std::endl;
    watchdog_.watch(now);
    try {
      (trial.*compare)(driver, random, coverage_);
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what() << '\n' << now;
    }
  }

 private:
  const Driver driver_;
  const Limits limits_;
  const penstock::test::TemporaryFolder folder_;
  const Workbench bench_;
  Coverage coverage_;
  std::string name_;
  Watchdog watchdog_;
};

}  // namespace random_graphs
