// Consumer: the training loop. It takes elements, works on the host's cores, pauses, and waits where nothing is ready.
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/snapshot.h>

#include "bench/scorecard/events.h"
#include "bench/scorecard/run_record.h"
#include "bench/scorecard/spec.h"

namespace penstock::scorecard {

class Chain;

class Consumer final : public Client {
 public:
  Consumer(Chain& chain, std::vector<ConsumerPhase> phases) : chain_(chain), phases_(std::move(phases)) {}

  void start() { next_step(); }
  void arrived();        // something is ready
  void wake() override;  // its work or its pause is over

  std::int64_t taken() const noexcept { return taken_; }
  bool waits() const noexcept { return state_ == State::waiting; }
  void snapshot(ConsumerSnapshot& out) const;
  const std::vector<ConsumerStep>& steps() const noexcept { return steps_; }

 private:
  enum class State : std::uint8_t { waiting, taking, working, pausing };
  void next_step();
  void take();
  void compute(double work, State state);
  void end_step();

  Chain& chain_;
  const std::vector<ConsumerPhase> phases_;
  std::size_t phase_ = 0;
  State state_ = State::taking;
  std::int64_t left_ = 0;   // of the burst
  std::int64_t taken_ = 0, waits_ = 0;
  Time wait_ = 0, waiting_since_ = 0, delay_ = 0, began_step_ = 0, waited_before_ = 0;
  double cpu_ = 0, clock_ = 0;
  Time computing_since_ = 0;
  bool computes_ = false;
  std::vector<ConsumerStep> steps_;
};

}  // namespace penstock::scorecard
