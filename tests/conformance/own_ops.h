// Elementwise ops as a user writes them, outside the library and through <penstock/op.h> alone. The
// stream op is OwnStream of flawed_ops.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/feed.h"

namespace conformance {

inline std::exception_ptr failure_on(std::int64_t number) {
  try {
    random_graphs::throw_fails_on(model::number(number));
  } catch (...) {
    return std::current_exception();
  }
}

template <class T>
std::vector<ps::Element> elements_of(const std::vector<model::Value>& values, const CensusRef& census) {
  std::vector<ps::Element> elements;
  for (const model::Value& value : values) elements.emplace_back(T(value.number, census));
  return elements;
}

// Uses every answer that a slot takes: emit, emit_many, drop, fail, and none.
template <class T> class OwnElementwise final : public ps::ElementwiseOp {
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
template <class T> class OwnAsync final : public ps::ElementwiseOp {
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
    auto parcel = std::make_unique<random_graphs::Parcel>(
        random_graphs::Parcel{std::move(completion), elements_of<T>(model::async_answer(value), feed_.census),
                              fails ? failure_on(number) : nullptr, op_.loses.holds(value) && !fails});
    if (number % 3 == 0) return parcel->deliver();
    feed_.courier->send(std::move(parcel));
  }

 private:
  const model::Op op_;
  const Feed feed_;
};

}  // namespace conformance
