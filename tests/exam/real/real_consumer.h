// RealConsumer: plays the training loop of a scenario on the calling thread, as the simulated one does.
#pragma once

#include <penstock/run.h>

#include <cstdint>
#include <vector>

#include "tests/exam/real/real_world.h"
#include "tests/exam/run_record.h"
#include "tests/exam/spec.h"

namespace penstock::exam {

class RealConsumer {
 public:
  // `phases`: at least one, the first from 0 on.
  RealConsumer(std::vector<ConsumerPhase> phases, const RealWorld& world) : phases_(std::move(phases)), world_(world) {}

  // Takes, works and pauses until that time of the world. Throws std::runtime_error where the run comes to an end
  // before.
  void consume(detail::RunCore& run, Time end);
  // The same steps with nothing to take and nobody beside it.
  void consume_alone(Time end);

  const std::vector<ConsumerStep>& steps() const noexcept { return steps_; }

 private:
  bool take_burst(detail::RunCore& run, const ConsumerPhase& phase);
  void work(const ConsumerPhase& phase);

  const std::vector<ConsumerPhase> phases_;
  const RealWorld& world_;
  std::int64_t deadline_ns_ = 0;  // steady clock
  Time waited_ = 0;
  std::vector<ConsumerStep> steps_;
};

// The 95th percentile; 0 of none.
double p95_of(const std::vector<ConsumerStep>& steps);

}  // namespace penstock::exam
