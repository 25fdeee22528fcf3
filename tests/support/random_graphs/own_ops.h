// Ops as a user writes them, outside the library and through <penstock/op.h> alone.
#pragma once

#include <penstock/op.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/list_model.h"
#include "tests/support/random_graphs/courier.h"
#include "tests/support/random_graphs/faults.h"
#include "tests/support/random_graphs/how.h"
#include "tests/support/random_graphs/jitter.h"
#include "tests/support/random_graphs/payload.h"

namespace random_graphs {

inline model::Origin origin_of(const ps::Stamp& stamp) { return {stamp.epoch, stamp.pass, stamp.ordinal}; }

inline std::vector<ps::Element> elements_of(std::vector<Value> values) {
  std::vector<ps::Element> elements;
  for (Value& value : values) elements.emplace_back(std::move(value));
  return elements;
}

// What is common to all of them: name, unknown number of results, and the drawn parameters.
template <class Base> class OwnOp : public Base {
 public:
  OwnOp(const model::Op& op, const How& how) : op_(op), how_(how) {}
  std::string name() const override { return model::name_of(op_.kind); }
  std::string parameters() const override { return "count=" + std::to_string(op_.count); }
  ps::Flow flow(const ps::Flow&) const override { return {}; }

 protected:
  const model::Op op_;
  const How how_;
};

template <class Base> class OwnParallelOp : public OwnOp<Base> {
 public:
  using OwnOp<Base>::OwnOp;
  ps::Tunable parallelism() const override {
    return this->how_.parallelism == 0 ? ps::AUTOTUNE : ps::Tunable(this->how_.parallelism);
  }
  ps::Order order() const override { return this->op_.arbitrary ? ps::Order::arbitrary : ps::Order::kept; }
};

// Computes or blocks; uses every answer that a slot takes: emit, emit_many, drop, fail, and none.
template <class T> class OwnElementwise final : public OwnParallelOp<ps::ElementwiseOp> {
 public:
  using OwnParallelOp::OwnParallelOp;
  ps::Form form() const override { return how_.blocks == 1 ? ps::Form::blocks : ps::Form::computes; }

  void run(std::span<ps::Slot> slots, ps::Context& context) const override {
    for (ps::Slot& slot : slots) {
      context.enter(slot);
      answer(slot);
    }
  }
  std::optional<std::size_t> bytes_hint(const ps::Element& element) const override {
    if (!how_.hinted) return std::nullopt;
    if (how_.any_fault && model::key(value_of(element.get<T>())) % 3 == 0) throw std::bad_alloc();
    return 3 * sizeof(Value);
  }

 private:
  void answer(ps::Slot& slot) const {
    Value value = value_of(slot.take<T>());
    jitter(how_, model::key(value));
    if (op_.fails.holds(value)) return fail(slot, value);
    std::vector<Value> values = model::own_answer(value);
    slot.value = ps::Element(value);  // now it is what no answer leaves
    if (values.empty()) return slot.drop();
    if (values.size() > 1) return slot.emit_many(elements_of(std::move(values)));
    if (!(values.front() == value)) slot.emit(ps::Element(std::move(values.front())));
  }
  void fail(ps::Slot& slot, const Value& value) const {
    try {
      throw_fault(how_, value);
    } catch (...) {
      slot.fail(std::current_exception());
    }
  }
};

// Starts now and completes later: through a courier, or at once, or never.
template <class T> class OwnAsync final : public OwnParallelOp<ps::ElementwiseOp> {
 public:
  OwnAsync(const model::Op& op, const How& how, std::shared_ptr<Courier> courier)
      : OwnParallelOp(op, how), courier_(std::move(courier)) {}
  ps::Form form() const override { return ps::Form::completes_later; }

  void start(ps::Element element, ps::Context&, ps::Completion completion) const override {
    const Value value = value_of(element.take<T>());
    const bool fails = op_.fails.holds(value);
    if (fails && model::key(value) % 2 == 0) throw_fault(how_, value);
    auto parcel = std::make_unique<Parcel>(Parcel{std::move(completion), elements_of(model::async_answer(value)),
                                                  nullptr, op_.loses.holds(value) && !fails});
    if (fails) parcel->error = failure(value);
    if (model::key(value) % 3 == 0) return parcel->deliver();
    courier_->send(std::move(parcel));
  }

 private:
  std::exception_ptr failure(const Value& value) const {
    try {
      throw_fault(how_, value);
    } catch (...) {
      return std::current_exception();
    }
  }

  const std::shared_ptr<Courier> courier_;
};

// Serial and stateful: sums of `count` elements, the rest at the end of a pass; ends the pass after `index` sums.
template <class T> class OwnStream final : public OwnOp<ps::StreamOp> {
 public:
  using OwnOp::OwnOp;
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override { return std::make_unique<State>(op_); }

 private:
  class State final : public ps::StreamState {
   public:
    explicit State(const model::Op& op) : op_(op) {}
    void begin_pass(ps::Emitter&) override {
      values_.clear();
      given_ = 0;
    }
    void element(ps::Slot&& slot, ps::Emitter& out) override {
      last_ = slot.stamp;
      values_.push_back(value_of(slot.template take<T>()));
      if (static_cast<std::int64_t>(values_.size()) == op_.count) give(out);
    }
    void pass_end(ps::Emitter& out) override {
      if (!values_.empty()) give(out);
    }

   private:
    void give(ps::Emitter& out) {
      out.emit(ps::Element(model::sum_of(values_)), last_);
      values_.clear();
      if (++given_ == op_.index) out.end_pass();
    }

    const model::Op op_;
    std::vector<Value> values_;
    ps::Stamp last_;
    std::int64_t given_ = 0;
  };
};

// Writes items on a tape, pass by pass; passes without any leave no trace.
class TapeWriter {
 public:
  explicit TapeWriter(model::Tape& tape) : tape_(tape) {}
  void begin_pass() { fresh_ = true; }
  void write(model::Item item) {
    if (std::exchange(fresh_, false)) tape_.emplace_back();
    tape_.back().items.push_back(std::move(item));
  }
  void end_pass() {
    if (!fresh_) tape_.back().ended = true;
  }

 private:
  model::Tape& tape_;
  bool fresh_ = true;
};

// Writes down the order of the positions of an indexable source: all of a pass at its beginning,
// because what follows may know without asking that it needs no more.
class RecordedSequence final : public ps::IndexSequence {
 public:
  RecordedSequence(std::unique_ptr<ps::IndexSequence> input, model::Tape& tape, const std::vector<model::Op>& before)
      : input_(std::move(input)), tape_(tape), before_(before) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    tape_.begin_pass();
    order_.clear();
    given_ = 0;
    const auto numbered = numbered_values();
    while (const auto index = input_->next()) {
      order_.push_back(*index);
      const Value value = numbered.empty() ? model::source_value(before_.front(), *index) : numbered.at(*index);
      tape_.write({.value = value, .origin = {epoch, pass, *index}});
    }
    tape_.end_pass();
  }
  std::optional<std::int64_t> next() override {
    if (given_ == order_.size()) return std::nullopt;
    return order_[given_++];
  }
  std::int64_t size() const override { return input_->size(); }

 private:
  // By position in the source, if ops before number the elements.
  std::map<std::int64_t, Value> numbered_values() const {
    std::map<std::int64_t, Value> values;
    const auto last = std::find_if(before_.rbegin(), before_.rend(),
                                   [](const model::Op& op) { return op.kind == model::Kind::enumerate; });
    if (last == before_.rend()) return values;
    model::Pipeline numbered(std::vector<model::Op>(before_.begin(), last.base()));
    numbered.begin_epoch(0);
    while (auto item = numbered.next()) values.emplace(item->origin.ordinal, std::move(item->value));
    return values;
  }

  const std::unique_ptr<ps::IndexSequence> input_;
  TapeWriter tape_;
  const std::vector<model::Op> before_;  // the source, and what follows up to here
  std::vector<std::int64_t> order_;
  std::size_t given_ = 0;
};

// Writes down the order in which a shuffle gives its elements, or its positions: a shuffle of the
// one kind must not become one of the other because somebody is watching. One run at a time.
template <class T> class Recorder final : public ps::StreamOp {
 public:
  Recorder(model::Tape& tape, std::vector<model::Op> before) : tape_(tape), before_(std::move(before)) {}
  std::string name() const override { return "recorder"; }
  ps::Flow flow(const ps::Flow& input) const override { return input; }
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override { return std::make_unique<State>(tape_); }
  std::unique_ptr<ps::IndexSequence> over_index(std::unique_ptr<ps::IndexSequence> input) const override {
    return std::make_unique<RecordedSequence>(std::move(input), tape_, before_);
  }

 private:
  class State final : public ps::StreamState {
   public:
    explicit State(model::Tape& tape) : tape_(tape) {}
    void begin_pass(ps::Emitter&) override { tape_.begin_pass(); }
    void element(ps::Slot&& slot, ps::Emitter& out) override {
      const ps::Stamp stamp = slot.stamp;
      T value = slot.template take<T>();
      tape_.write({.value = value_of(value), .origin = origin_of(stamp)});
      out.emit(ps::Element(std::move(value)), stamp);
    }
    void error(ps::Slot&& slot, ps::Emitter& out) override {
      tape_.write({.failed_op = 0});
      out.forward(std::move(slot));
    }
    void pass_end(ps::Emitter&) override { tape_.end_pass(); }

   private:
    TapeWriter tape_;
  };

  model::Tape& tape_;
  const std::vector<model::Op> before_;
};

}  // namespace random_graphs
