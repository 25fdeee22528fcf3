// EngineReport: what is seen of an engine from outside, the process around it among it.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include <penstock/snapshot.h>

#include "lib/base/mutex.h"
#include "lib/exec/engine_state.h"

namespace penstock::exec {

class EngineReport {
 public:
  explicit EngineReport(EngineState& state);

  void set_surroundings(const Surroundings& surroundings) EXCLUDES(mutex_);
  void snapshot(Snapshot& out) const
      EXCLUDES(mutex_);                   // into one that is there already: allocates nothing from the second time on
  std::int64_t dropped() const noexcept;  // errors that ops have left out for good

 private:
  EngineState& state_;
  mutable Mutex mutex_;
  Surroundings surroundings_ GUARDED_BY(mutex_);
  std::int64_t consumer_cpu_ns_ GUARDED_BY(mutex_) = -1;  // when the clocks were read
};

}  // namespace penstock::exec
