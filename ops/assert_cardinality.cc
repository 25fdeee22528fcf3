#include "ops/assert_cardinality.h"

#include <penstock/ops.h>

#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

std::string in_words(std::int64_t cardinality) {
  if (cardinality == INFINITE_CARDINALITY) return "endlessly many elements";
  return std::to_string(cardinality) + (cardinality == 1 ? " element" : " elements");
}

class State final : public StreamState {
 public:
  explicit State(std::int64_t cardinality) : cardinality_(cardinality) {}

  void begin_pass(Emitter&) override {
    seen_ = 0;
    has_ended_ = false;
    last_ = {};
  }
  void element(Slot&& slot, Emitter& out) override { pass_on(std::move(slot), out); }
  void error(Slot&& slot, Emitter& out) override { pass_on(std::move(slot), out); }
  // When the pass ends by itself: who has seen enough does not ask.
  bool flush(Emitter& out) override {
    if (!has_ended_ && seen_ != cardinality_) fail(Slot({}, last_), "only " + std::to_string(seen_), out);
    has_ended_ = true;
    return false;
  }
  bool save(StateWriter& out) const override {
    out.number(seen_);
    out.stamp(last_);
    return true;
  }
  void restore(StateReader& in) override {
    seen_ = in.count();
    last_ = in.stamp();
  }

 private:
  void pass_on(Slot&& slot, Emitter& out) {
    if (has_ended_) return;
    last_ = slot.stamp;
    if (seen_++ != cardinality_) return out.forward(std::move(slot));
    has_ended_ = true;
    fail(Slot({}, last_), "at least " + std::to_string(seen_), out);
    out.end_pass();
  }
  // In tf.data's words.
  void fail(Slot&& slot, const std::string& contained, Emitter& out) const {
    slot.fail(std::make_exception_ptr(
        Error(ErrorCode::failed_precondition, "Input dataset was expected to contain " + in_words(cardinality_) +
                                                  " but contained " + contained +
                                                  ". Tell assert_cardinality() the right number, or use take() or "
                                                  "repeat() before it")));
    out.forward(std::move(slot));
  }

  const std::int64_t cardinality_;
  std::int64_t seen_ = 0;  // elements and errors of this pass
  bool has_ended_ = false;
  Stamp last_;
};

}  // namespace

AssertCardinalityOp::AssertCardinalityOp(std::int64_t cardinality) : cardinality_(cardinality) {
  if (cardinality < INFINITE_CARDINALITY)
    graph::reject("cardinality", "at least 0, or INFINITE_CARDINALITY (-1)", cardinality);
}

Flow AssertCardinalityOp::flow(const Flow& input) const {
  if (input.cardinality != UNKNOWN_CARDINALITY && input.cardinality != cardinality_)
    throw Error(ErrorCode::invalid_argument, "the input is known to have " + in_words(input.cardinality) +
                                                 ", but cardinality says " + std::to_string(cardinality_));
  return {.cardinality = cardinality_, .leading_dimension = input.leading_dimension};
}

std::unique_ptr<StreamState> AssertCardinalityOp::open(std::uint64_t) const {
  return std::make_unique<State>(cardinality_);
}

OpRef assert_cardinality(std::int64_t cardinality) { return std::make_shared<AssertCardinalityOp>(cardinality); }

}  // namespace penstock::ops
