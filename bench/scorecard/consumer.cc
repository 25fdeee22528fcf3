#include "bench/scorecard/consumer.h"

#include "bench/scorecard/chain.h"
#include "bench/scorecard/plant.h"

namespace penstock::scorecard {

void Consumer::next_step() {
  while (phase_ + 1 < phases_.size() && phases_[phase_ + 1].from <= chain_.now()) ++phase_;
  left_ = phases_[phase_].burst;
  began_step_ = chain_.now();
  waited_before_ = wait_;
  take();
}

// As many of the burst as are ready count as taken at once.
void Consumer::take() {
  if (chain_.outlet().ready() == 0) {
    state_ = State::waiting;
    ++waits_;
    waiting_since_ = chain_.now();
    return;
  }
  const std::int64_t count = chain_.take(left_);
  taken_ += count;
  left_ -= count;
  const ConsumerPhase& phase = phases_[phase_];
  const double work = phase.cpu_each * static_cast<double>(count);
  if (left_ > 0) return compute(work, State::taking);
  compute(work + phase.cpu, State::working);
}

void Consumer::arrived() {
  if (state_ != State::waiting || chain_.outlet().ready() == 0) return;
  wait_ += chain_.now() - waiting_since_;
  take();
}

void Consumer::compute(double work, State state) {
  state_ = state;
  Processor& processor = chain_.plant().processor();
  clock_ = processor.clock(Processor::consumers);
  computing_since_ = chain_.now();
  computes_ = true;
  processor.add(Processor::consumers, work, *this);
}

void Consumer::wake() {
  if (computes_) {
    const double used = chain_.plant().processor().clock(Processor::consumers) - clock_;
    cpu_ += used;
    delay_ += std::max<Time>(chain_.now() - computing_since_ - static_cast<Time>(used), 0);
    computes_ = false;
  }
  const double idle = phases_[phase_].idle;
  if (state_ == State::taking) return take();
  if (state_ == State::working && idle > 0) {
    state_ = State::pausing;
    return chain_.plant().events().add(chain_.now() + static_cast<Time>(idle), *this);
  }
  end_step();
}

void Consumer::end_step() {
  const ConsumerPhase& phase = phases_[phase_];
  if (phase.idle + phase.cpu > 0) steps_.push_back({chain_.now(), chain_.now() - began_step_ - (wait_ - waited_before_)});
  next_step();
}

void Consumer::snapshot(ConsumerSnapshot& out) const {
  const Time now = chain_.now();
  out.taken = taken_;
  out.waits = waits_;
  out.waiting = waits();
  out.wait_ns = wait_ + (waits() ? now - waiting_since_ : 0);
  const double used = computes_ ? chain_.plant().processor().clock(Processor::consumers) - clock_ : 0;
  out.cpu_ns = static_cast<Time>(cpu_ + used);
  out.delay_ns = delay_ + (computes_ ? std::max<Time>(now - computing_since_ - static_cast<Time>(used), 0) : 0);
}

}  // namespace penstock::scorecard
