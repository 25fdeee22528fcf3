#include "ops/choose_from.h"

#include <penstock/ops.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/merging.h"

namespace penstock::ops {
namespace {

class State final : public MergeState {
 public:
  State(std::size_t inputs, bool stop_on_empty) : choice_(inputs - 1), stop_on_empty_(stop_on_empty) {}

  void begin_pass(const Stamp&) override {
    chosen_.reset();
    has_ended_ = false;
    exhausted_.assign(choice_, false);
  }
  Want want() const override {
    if (has_ended_) return Want::nothing();
    return Want::one(chosen_.value_or(choice_));
  }
  void take(std::size_t input, Slot&& slot, Emitter& out) override {
    if (input == choice_ && slot.is_element()) return choose(slot.value.unchecked<std::int64_t>());
    if (input != choice_) chosen_.reset();
    out.forward(std::move(slot));
  }
  void ended(std::size_t input, Emitter&) override {
    if (input < choice_) exhausted_[input] = true;
    has_ended_ = input == choice_ || stop_on_empty_ || std::ranges::count(exhausted_, false) == 0;
    chosen_.reset();
  }

 private:
  void choose(std::int64_t input) {
    if (input >= 0 && input < static_cast<std::int64_t>(choice_)) {
      chosen_ = static_cast<std::size_t>(input);
      return;
    }
    throw Error(ErrorCode::invalid_argument, "the choice is " + std::to_string(input) + ", but there are " +
                                                 std::to_string(choice_) +
                                                 " datasets to choose from, which count from 0");
  }

  const std::size_t choice_;  // the input that says which
  const bool stop_on_empty_;
  std::optional<std::size_t> chosen_;
  std::vector<bool> exhausted_;  // datasets that were found to have no more
  bool has_ended_ = false;
};

}  // namespace

Flow ChooseFromOp::flow_of(std::span<const Flow> inputs) const {
  return {.cardinality = cardinality_of_mixed(inputs),
          .leading_dimension = leading_dimension_of_all(inputs.first(inputs.size() - 1))};
}

std::unique_ptr<MergeState> ChooseFromOp::open(std::size_t inputs) const {
  return std::make_unique<State>(inputs, stop_on_empty_);
}

OpRef choose_from(std::size_t datasets, const ChooseOptions& options) {
  if (datasets == 0) throw Error(ErrorCode::invalid_argument, "the list of datasets is empty; give at least one");
  return std::make_shared<ChooseFromOp>(options.stop_on_empty);
}

}  // namespace penstock::ops
