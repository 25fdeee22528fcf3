// Recorder: looks at a run every 10 ms on a thread of its own, and keeps what the simulated run keeps.
#pragma once

#include <penstock/knob.h>
#include <penstock/run.h>
#include <pthread.h>

#include <thread>
#include <vector>

#include "tests/exam/real/real_world.h"
#include "tests/exam/run_record.h"

namespace penstock::exam {

// Begun and ended by the thread that takes the run's elements. The run and the world outlive it. A look costs a
// snapshot and a read of every knob, on the CPUs that the run computes on.
class Recorder {
 public:
  Recorder(detail::RunCore& run, RealWorld& world);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What was seen until then: at least one look.
  std::vector<Sample> stop();

 private:
  void look_until_told(const std::stop_token& stop);
  Sample look();
  std::int64_t count_changes();
  std::int64_t cpu_of_workers() const;

  detail::RunCore& run_;
  RealWorld& world_;
  std::vector<Knob> knobs_;
  std::vector<std::int64_t> values_;
  std::int64_t changes_ = 0;
  clockid_t consumer_clock_{};
  std::int64_t cpu_before_ = 0;
  std::vector<Sample> samples_;
  std::jthread thread_;  // last: it uses all of these
};

}  // namespace penstock::exam
