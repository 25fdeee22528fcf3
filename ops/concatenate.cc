#include "ops/concatenate.h"

#include <penstock/ops.h>

#include <utility>

#include "ops/merging.h"

namespace penstock::ops {
namespace {

class State final : public MergeState {
 public:
  explicit State(std::size_t inputs) : inputs_(inputs) {}

  void begin_pass(const Stamp&) override { reading_ = 0; }
  Want want() const override { return reading_ < inputs_ ? Want::one(reading_) : Want::nothing(); }
  void take(std::size_t, Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
  void ended(std::size_t, Emitter&) override { ++reading_; }
  // The one after it as well; behind the last one the first of the next pass.
  bool soon(std::size_t input) const noexcept override {
    return input == reading_ || input == (reading_ + 1 < inputs_ ? reading_ + 1 : 0);
  }

 private:
  const std::size_t inputs_;
  std::size_t reading_ = 0;
};

std::int64_t sum_of(std::span<const Flow> inputs) {
  if (any_is(inputs, INFINITE_CARDINALITY)) return INFINITE_CARDINALITY;
  if (any_is(inputs, UNKNOWN_CARDINALITY)) return UNKNOWN_CARDINALITY;
  std::int64_t sum = 0;
  for (const Flow& input : inputs) {
    if (__builtin_add_overflow(sum, input.cardinality, &sum)) return UNKNOWN_CARDINALITY;
  }
  return sum;
}

}  // namespace

Flow ConcatenateOp::flow_of(std::span<const Flow> inputs) const {
  return {.cardinality = sum_of(inputs), .leading_dimension = leading_dimension_of_all(inputs)};
}

std::unique_ptr<MergeState> ConcatenateOp::open(std::size_t inputs) const { return std::make_unique<State>(inputs); }

OpRef concatenate() { return std::make_shared<ConcatenateOp>(); }

}  // namespace penstock::ops
