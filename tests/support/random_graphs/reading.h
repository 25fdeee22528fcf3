// A run being read: what it delivers, written down; with a thread beside it that moves its knobs,
// if the driver has threads.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "tests/support/random_graphs/knob_mover.h"
#include "tests/support/random_graphs/trial.h"

namespace random_graphs {

class Reading {
 public:
  Reading(const Driver& driver, const Built& built, const ps::RunOptions& options, Random& random, Coverage& coverage);

  void begin_epoch(std::uint32_t epoch);

  // Up to `at_most` deliveries of the current epoch; fewer at its end. Throws Failure where RunStats
  // tells of another number of them.
  Deliveries read(std::size_t at_most);
  Deliveries read_all() { return read(std::numeric_limits<std::size_t>::max()); }

  ps::detail::RunCore& run() { return *run_; }

  // Destroys the run; what its async calls have under way is held back until afterwards. How many that were.
  std::int64_t abandon(Courier& courier);

 private:
  bool read_one(Delivery& delivery);
  void check_counts() const;
  bool next(ps::Element& element);

  const Built& built_;
  Random& random_;
  Coverage& coverage_;
  RunRef run_;
  const bool on_threads_;
  const bool patient_;  // asks without a deadline
  bool small_;          // little memory: looks whether stages wait for it
  bool saw_wait_ = false;
  std::int64_t elements_ = 0, failures_ = 0;  // delivered by this run
  std::optional<KnobMover> mover_;
};

// Options that change nothing of what a run gives.
ps::RunOptions draw_options(Random& random);

}  // namespace random_graphs
