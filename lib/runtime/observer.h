// Observer: what is remembered of one run so that it can be explained at any moment, from any thread.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <penstock/decision.h>
#include <penstock/explanation.h>
#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/history.h"
#include "autotune/policy.h"

namespace penstock::runtime {

// How a run goes.
struct Execution {
  bool tuned = false;               // a policy moves its knobs
  bool serial = false;              // on the consumer's thread
  bool inside_another_run = false;  // begun there, and serial for that reason
};

class Observer {
 public:
  Observer(std::vector<Knob> knobs, const Execution& execution);

  // At each look of the controller, behind the policy's; null: nothing moves knobs.
  void see(const Snapshot& now, const autotune::Policy* policy);

  // At each look: who waits for whom, if nothing has moved for long; else empty.
  void stands_still(const std::string& text);

  autotune::Window recent(const Snapshot& now) const;  // the last seconds
  autotune::Window whole(const Snapshot& now) const;   // all of the run
  Explanation explain(autotune::Window window) const;
  std::vector<Decision> decisions() const;             // the last ones, oldest first

 private:
  const std::vector<Knob> knobs_;  // without functions: where they stand is in the snapshots
  const Execution execution_;
  mutable std::mutex mutex_;       // all below: the controller's thread writes, any thread reads
  autotune::History history_;
  std::vector<Decision> decisions_;
  std::int64_t decided_ = 0;       // that the policy's log has had when they were copied
  std::vector<autotune::StageLimits> limits_;
  std::string stand_still_;
};

}  // namespace penstock::runtime
