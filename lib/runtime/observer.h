// Observer: what is remembered of one run so that it can be explained at any moment, from any thread.
#pragma once

#include <string>
#include <vector>

#include <penstock/decision.h>
#include <penstock/explanation.h>
#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/history.h"
#include "autotune/policy.h"

#include "lib/base/mutex.h"

namespace penstock::runtime {

// How a run goes.
struct Execution {
  bool tuned = false;                      // a policy moves its knobs
  bool serial = false;                     // on the consumer's thread
  bool inside_another_run = false;         // begun there, and serial for that reason
  std::vector<std::string> rewrites = {};  // Plan::changes
};

class Observer {
 public:
  Observer(std::vector<Knob> knobs, Execution execution);

  // At each look of the controller, behind the policy's; null: nothing moves knobs.
  void see(const Snapshot& now, const autotune::Policy* policy) EXCLUDES(mutex_);

  // At each look: who waits for whom, if nothing has moved for long; else empty.
  void stands_still(const std::string& text) EXCLUDES(mutex_);

  autotune::Window recent(const Snapshot& now) const EXCLUDES(mutex_);  // the last seconds
  autotune::Window whole(const Snapshot& now) const EXCLUDES(mutex_);   // all of the run
  Explanation explain(autotune::Window window) const EXCLUDES(mutex_);
  std::vector<Decision> decisions() const EXCLUDES(mutex_);  // the last ones, oldest first

 private:
  const std::vector<Knob> knobs_;  // without functions: where they stand is in the snapshots
  const Execution execution_;
  mutable Mutex mutex_;  // the controller's thread writes, any thread reads
  autotune::History history_ GUARDED_BY(mutex_);
  std::vector<Decision> decisions_ GUARDED_BY(mutex_);
  std::int64_t decided_ GUARDED_BY(mutex_) = 0;  // that the policy's log has had when they were copied
  std::vector<autotune::StageLimits> limits_ GUARDED_BY(mutex_);
  std::string stand_still_ GUARDED_BY(mutex_);
};

}  // namespace penstock::runtime
