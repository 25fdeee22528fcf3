#include "ops/take.h"

#include <penstock/ops.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/graph/arguments.h"
#include "lib/graph/positions.h"

namespace penstock::ops {
namespace {

constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

class State final : public StreamState {
 public:
  explicit State(std::int64_t limit) : limit_(limit) {}
  void begin_pass(Emitter& out) override {
    left_ = limit_;
    if (left_ == 0) out.end_pass();
  }
  void element(Slot&& slot, Emitter& out) override {
    if (left_ == 0) return;
    out.emit(std::move(slot.value), slot.stamp);
    if (--left_ == 0) out.end_pass();
  }
  void error(Slot&& slot, Emitter& out) override {
    if (left_ > 0) out.forward(std::move(slot));
  }
  bool save(StateWriter& out) const override {
    out.number(left_);
    return true;
  }
  void restore(StateReader& in) override { left_ = in.number(1, limit_); }

 private:
  std::int64_t limit_;
  std::int64_t left_ = 0;
};

}  // namespace

TakeOp::TakeOp(std::int64_t count) : count_(count) {
  if (count < -1) graph::reject("count", "at least 0, or -1 for all elements", count);
}

std::string TakeOp::parameters() const { return "count=" + (count_ < 0 ? std::string("all") : std::to_string(count_)); }

Flow TakeOp::flow(const Flow& input) const {
  Flow flow = input;
  if (count_ >= 0 && input.cardinality == INFINITE_CARDINALITY) flow.cardinality = count_;
  if (count_ >= 0 && input.cardinality >= 0) flow.cardinality = std::min(count_, input.cardinality);
  return flow;
}

std::unique_ptr<StreamState> TakeOp::open(std::uint64_t) const {
  return std::make_unique<State>(count_ < 0 ? all : count_);
}

std::unique_ptr<IndexSequence> TakeOp::over_index(std::unique_ptr<IndexSequence> input) const {
  return graph::first_positions(std::move(input), count_ < 0 ? all : count_);
}

OpRef take(std::int64_t count) { return std::make_shared<TakeOp>(count); }

}  // namespace penstock::ops
