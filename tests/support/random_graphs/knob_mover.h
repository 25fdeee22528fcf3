// Turns a run's knobs at random from a thread of its own, for as long as it lives.
#pragma once

#include <penstock/run.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/random_graphs/coverage.h"

namespace random_graphs {

namespace ps = penstock;
using ps::test::Random;

// A value for a knob: within its bounds, and small enough that a test's run notices it.
std::int64_t draw_setting(const ps::Knob& knob, Random& random);

// One move of one knob; counted in `moves`.
void move_one(std::vector<ps::Knob>& knobs, Random& random, Coverage::Moves& moves);

bool some_stage_waits_for_memory(const ps::Snapshot& snapshot);

class KnobMover {
 public:
  KnobMover(std::shared_ptr<ps::detail::RunCore> run, std::uint64_t seed, Coverage& coverage);
  ~KnobMover();  // tells the coverage what it has done and seen

 private:
  void work();

  std::shared_ptr<ps::detail::RunCore> run_;
  Random random_;
  Coverage& coverage_;
  Coverage::Moves moves_;
  bool saw_wait_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace random_graphs
