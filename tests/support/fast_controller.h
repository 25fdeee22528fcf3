// The controller's policy at work on a run, on a thread of its own, every 100 us: the runtime's thread comes every 10
// ms, and many a test's run lasts no longer. Such a run is started with RunOptions::tune = false, so that nobody else
// moves its knobs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/policy.h"

namespace penstock::test {

class FastController {
 public:
  // `run`: a Run or a RunCore, which must outlive this object.
  template <class AnyRun>
  explicit FastController(AnyRun& run) : FastController(run.knobs(), [&run] { return run.snapshot(); }) {}
  FastController(const FastController&) = delete;
  FastController& operator=(const FastController&) = delete;

  // Stops. What the policy has moved.
  std::int64_t moves();

 private:
  FastController(std::vector<Knob> knobs, std::function<Snapshot()> look);
  void work(const std::stop_token& stop);

  std::vector<Knob> knobs_;
  const std::function<Snapshot()> look_;
  const std::unique_ptr<autotune::Policy> policy_;
  std::jthread thread_;  // the last member: it uses all others
};

}  // namespace penstock::test
