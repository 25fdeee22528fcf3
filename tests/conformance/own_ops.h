// Ops as a user writes them, outside the library and through <penstock/op.h> alone.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/functions.h"

namespace conformance {

inline std::exception_ptr failure_on(std::int64_t number) {
  try {
    random_graphs::throw_fails_on(model::number(number));
  } catch (...) {
    return std::current_exception();
  }
}

template <class T>
std::vector<ps::Element> elements_of(const std::vector<model::Value>& values,
                                     const CensusRef& census) {
  std::vector<ps::Element> elements;
  for (const model::Value& value : values) elements.emplace_back(T(value.number, census));
  return elements;
}

// Uses every answer that a slot takes: emit, emit_many, drop, fail, and none.
template <class T>
class OwnElementwise final : public ps::ElementwiseOp {
 public:
  OwnElementwise(model::Op op, Feed feed) : op_(std::move(op)), feed_(std::move(feed)) {}
  std::string name() const override { return "own_elementwise"; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }

  void run(std::span<ps::Slot> slots, ps::Context& context) const override {
    for (ps::Slot& slot : slots) {
      context.enter(slot);
      answer(slot, slot.value.get<T>().number());
    }
  }

 private:
  void answer(ps::Slot& slot, std::int64_t number) const {
    feed_.be_uneven(number + 31);
    if (op_.fails.holds(model::number(number))) return slot.fail(failure_on(number));
    const auto values = model::own_answer(model::number(number));
    if (values.empty()) return slot.drop();
    auto elements = elements_of<T>(values, feed_.census);
    if (elements.size() > 1) return slot.emit_many(std::move(elements));
    if (values.front().number != number) slot.emit(std::move(elements.front()));
  }

  const model::Op op_;
  const Feed feed_;
};

// Starts now and completes later, from the courier's thread; sometimes at once, sometimes never.
template <class T>
class OwnAsync final : public ps::ElementwiseOp {
 public:
  OwnAsync(model::Op op, Feed feed) : op_(std::move(op)), feed_(std::move(feed)) {}
  std::string name() const override { return "own_async"; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }
  ps::Form form() const override { return ps::Form::completes_later; }

  void start(ps::Element element, ps::Context&, ps::Completion completion) const override {
    const std::int64_t number = element.get<T>().number();
    const model::Value value = model::number(number);
    const bool fails = op_.fails.holds(value);
    if (fails && number % 2 == 0) random_graphs::throw_fails_on(value);
    auto parcel = std::make_unique<random_graphs::Parcel>(random_graphs::Parcel{
        std::move(completion), elements_of<T>(model::async_answer(value), feed_.census),
        fails ? failure_on(number) : nullptr, op_.loses.holds(value) && !fails});
    if (number % 3 == 0) return parcel->deliver();
    feed_.courier->send(std::move(parcel));
  }

 private:
  const model::Op op_;
  const Feed feed_;
};

// Sums of op.count tokens, the rest at the end of a pass; ends the pass after op.index sums.
template <class T>
class OwnStream final : public ps::StreamOp {
 public:
  OwnStream(model::Op op, Feed feed) : op_(std::move(op)), feed_(std::move(feed)) {}
  std::string name() const override { return "own_stream"; }
  std::string parameters() const override {
    return "count=" + std::to_string(op_.count) + ", sums=" + std::to_string(op_.index);
  }
  ps::Flow flow(const ps::Flow&) const override { return {}; }
  std::int64_t elements_held() const override { return op_.count; }
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override {
    return std::make_unique<State>(op_, feed_);
  }

 private:
  class State final : public ps::StreamState {
   public:
    State(model::Op op, Feed feed) : op_(std::move(op)), feed_(std::move(feed)) {}
    void begin_pass(ps::Emitter&) override {
      clear();
      given_ = 0;
    }
    void element(ps::Slot&& slot, ps::Emitter& out) override {
      if (has_enough()) return;
      last_ = slot.stamp;
      bytes_ += slot.bytes();
      held_.push_back(slot.template take<T>());
      if (static_cast<std::int64_t>(held_.size()) == op_.count) give(out);
    }
    void error(ps::Slot&& slot, ps::Emitter& out) override {
      if (!has_enough()) out.forward(std::move(slot));
    }
    void pass_end(ps::Emitter& out) override {
      if (!held_.empty()) give(out);
    }
    std::int64_t held_bytes() const override { return bytes_; }

   private:
    bool has_enough() const { return op_.index > 0 && given_ == op_.index; }
    void give(ps::Emitter& out) {
      std::vector<model::Value> values;
      for (const T& token : held_) values.push_back(model::number(token.number()));
      clear();
      out.emit(ps::Element(T(model::sum_of(values).number, feed_.census)), last_);
      if (++given_ == op_.index) out.end_pass();
    }
    void clear() {
      held_.clear();
      bytes_ = 0;
    }

    const model::Op op_;
    const Feed feed_;
    std::vector<T> held_;
    std::int64_t bytes_ = 0;
    std::int64_t given_ = 0;
    ps::Stamp last_;
  };

  const model::Op op_;
  const Feed feed_;
};

}  // namespace conformance
