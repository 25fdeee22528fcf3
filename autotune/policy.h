// Policy: whoever moves the knobs of a run. It sees snapshots and knobs, nothing else, so that a recorded log can be replayed.
//
// One object per run. tick() is called by the controller's thread every 10 ms, never by two threads at once. It must not block.
#pragma once

#include <memory>
#include <vector>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

namespace penstock::autotune {

class Policy {
 public:
  virtual ~Policy() = default;
  // Looks at what has happened since the last call and moves knobs that the user has not fixed.
  virtual void tick(const Snapshot& now, std::vector<Knob>& knobs) = 0;
};

// CPU stages: as many calls as there are CPU slots. Blocking stages: found by their CPU time, moved to the thread pool, and
// widened while all their calls wait and the consumer does, too. Outlet: deepened while the consumer finds it empty.
std::unique_ptr<Policy> default_policy();

}  // namespace penstock::autotune
