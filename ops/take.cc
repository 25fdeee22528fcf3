#include "ops/take.h"

#include <penstock/ops.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/graph/arguments.h"

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

 private:
  std::int64_t limit_;
  std::int64_t left_ = 0;
};

class Sequence final : public IndexSequence {
 public:
  Sequence(std::unique_ptr<IndexSequence> input, std::int64_t limit) : input_(std::move(input)), limit_(limit) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    left_ = size();
  }
  std::optional<std::int64_t> next() override {
    if (left_ == 0) return std::nullopt;
    --left_;
    return input_->next();
  }
  void skip(std::int64_t count) override {
    const std::int64_t skipped = std::clamp<std::int64_t>(count, 0, left_);
    left_ -= skipped;
    input_->skip(skipped);
  }
  std::optional<std::int64_t> at(std::int64_t i) const override { return input_->at(i); }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    const auto i = input_->find(position);
    return i ? std::optional(std::min(*i, size())) : std::nullopt;
  }
  std::int64_t size() const override { return std::min(limit_, input_->size()); }

 private:
  std::unique_ptr<IndexSequence> input_;
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
  return std::make_unique<Sequence>(std::move(input), count_ < 0 ? all : count_);
}

OpRef take(std::int64_t count) { return std::make_shared<TakeOp>(count); }

}  // namespace penstock::ops
