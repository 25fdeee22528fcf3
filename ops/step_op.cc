#include "ops/step_op.h"

#include <utility>

namespace penstock::ops {
namespace {

class State final : public StreamState {
 public:
  State(detail::StepFactoryRef factory, StepOp::Unwanted unwanted)
      : factory_(std::move(factory)), unwanted_(unwanted) {}

  void begin_pass(Emitter&) override {
    step_.reset();
    position_ = 0;
    has_ended_ = false;
  }
  void element(Slot&& slot, Emitter& out) override {
    if (has_ended_) return;
    const std::int64_t position = position_++;
    if (!step_) step_ = factory_->open();
    if (step_->run(slot.value, position)) return out.emit(std::move(slot.value), slot.stamp);
    if (unwanted_ == StepOp::Unwanted::is_left_out) return;
    has_ended_ = true;
    out.end_pass();
  }
  void error(Slot&& slot, Emitter& out) override {
    ++position_;
    if (!has_ended_) out.forward(std::move(slot));
  }
  void pass_end(Emitter&) override { step_.reset(); }
  std::int64_t held_bytes() const override { return step_ ? step_->held_bytes() : 0; }
  bool save(StateWriter& out) const override {
    out.number(position_);
    out.number(step_ ? 1 : 0);
    return !step_ || step_->save(out);
  }
  void restore(StateReader& in) override {
    position_ = in.count();
    if (in.number(0, 1) == 0) return;
    step_ = factory_->open();
    step_->restore(in);
  }

 private:
  const detail::StepFactoryRef factory_;
  const StepOp::Unwanted unwanted_;
  std::unique_ptr<detail::Step> step_;  // of this pass; none before its first element
  std::int64_t position_ = 0;
  bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<StreamState> StepOp::open(std::uint64_t) const { return std::make_unique<State>(step_, unwanted_); }

}  // namespace penstock::ops
