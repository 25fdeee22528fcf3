// One graph, run in many ways, each of them compared with the model.
#pragma once

#include <penstock/penstock.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/model/list_model.h"
#include "tests/support/random.h"
#include "tests/support/random_graphs/coverage.h"
#include "tests/support/random_graphs/graph_builder.h"
#include "tests/support/random_graphs/graph_generator.h"

namespace random_graphs {

using penstock::test::Random;

using RunRef = std::shared_ptr<ps::detail::RunCore>;

// Who runs a dataset. The seam between the engine on threads and other schedulers of the same stages.
struct Driver {
  std::string name;
  std::function<RunRef(const ps::graph::NodeRef&, const ps::RunOptions&, Random&, Coverage&)> start;
  bool on_threads = false;  // knobs are to be moved from a thread beside it
};
Driver serial_driver();
Driver engine_driver();

// What a run delivered in one place.
struct Delivery {
  bool failed = false;
  Value value = {};
  ps::ErrorPlace place = {};  // of an error
  std::string cause = {};
};
using Deliveries = std::vector<Delivery>;
using Items = std::vector<model::Item>;

// A run did not give what the model says.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Reading;

class Trial {
 public:
  Trial(const Graph& graph, const Workbench& bench) : graph_(graph), bench_(bench), built_(build_graph(graph, bench)) {}

  // Each throws Failure on the first difference. `random` decides whatever their names leave open.
  // Some epochs, the last one to its end.
  void check_whole(const Driver& driver, Random& random, Coverage& coverage);
  // Under an error policy.
  void check_skipped(const Driver& driver, Random& random, Coverage& coverage);
  // Destroyed somewhere.
  void check_abandoned(const Driver& driver, Random& random, Coverage& coverage);
  // A second run goes on where a first stood, and maybe a third and a fourth. Where the order is free, at the epoch's
  // end.
  void check_resumed(const Driver& driver, Random& random, Coverage& coverage);

  // Checks what a run that has read one epoch to its end, and nothing else, says of itself.
  void check_counts(const ps::RunStats& stats, std::uint32_t epoch, Coverage& coverage);

  // What the model says of an epoch. Orders of shuffles are those of a serial run, recorded at the first call.
  const Items& expected(std::uint32_t epoch);

 private:
  // Reads on from `place` as far as is drawn: where it stands then, to go on from.
  std::shared_ptr<const ps::Checkpoint> read_some(Reading& reading, const Items& items, std::size_t& place,
                                                  Random& random);

  const Graph& graph_;
  const Workbench& bench_;
  const Built built_;
  std::map<std::uint32_t, Items> expected_;
  std::map<std::uint32_t, std::int64_t> dropped_;  // by ignore_errors, in the epochs of expected_
};

}  // namespace random_graphs
