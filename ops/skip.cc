#include "ops/skip.h"

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
  explicit State(std::int64_t count) : count_(count) {}
  void begin_pass(Emitter&) override { left_ = count_; }
  void element(Slot&& slot, Emitter& out) override {
    if (left_ > 0) {
      --left_;
      return;
    }
    out.emit(std::move(slot.value), slot.stamp);
  }
  bool save(StateWriter& out) const override {
    out.number(left_);
    return true;
  }
  void restore(StateReader& in) override { left_ = in.number(0, count_); }

 private:
  std::int64_t count_;
  std::int64_t left_ = 0;
};

class Sequence final : public IndexSequence {
 public:
  Sequence(std::unique_ptr<IndexSequence> input, std::int64_t count)
      : input_(std::move(input)), skipped_(std::min(count, input_->size())) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    input_->skip(skipped_);
  }
  std::optional<std::int64_t> next() override { return input_->next(); }
  std::size_t next_few(std::span<std::int64_t> positions) override { return input_->next_few(positions); }
  void skip(std::int64_t count) override { input_->skip(count); }
  std::optional<std::int64_t> at(std::int64_t i) const override { return input_->at(i + skipped_); }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    const auto i = input_->find(position);
    if (!i) return std::nullopt;
    return *i < skipped_ ? size() : *i - skipped_;
  }
  std::int64_t size() const override { return input_->size() - skipped_; }

 private:
  std::unique_ptr<IndexSequence> input_;
  std::int64_t skipped_;
};

}  // namespace

SkipOp::SkipOp(std::int64_t count) : count_(count) {
  if (count < -1) graph::reject("count", "at least 0, or -1 for all elements", count);
}

std::string SkipOp::parameters() const { return "count=" + (count_ < 0 ? std::string("all") : std::to_string(count_)); }

Flow SkipOp::flow(const Flow& input) const {
  Flow flow = input;
  if (input.cardinality >= 0) flow.cardinality = count_ < 0 ? 0 : std::max<std::int64_t>(0, input.cardinality - count_);
  return flow;
}

std::unique_ptr<StreamState> SkipOp::open(std::uint64_t) const {
  return std::make_unique<State>(count_ < 0 ? all : count_);
}

std::unique_ptr<IndexSequence> SkipOp::over_index(std::unique_ptr<IndexSequence> input) const {
  return std::make_unique<Sequence>(std::move(input), count_ < 0 ? all : count_);
}

OpRef skip(std::int64_t count) { return std::make_shared<SkipOp>(count); }

}  // namespace penstock::ops
