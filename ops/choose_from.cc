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
  bool save(StateWriter& out) const override {
    out.number(chosen_ ? static_cast<std::int64_t>(*chosen_) : -1);
    save_inputs(out, choice_, [&](std::size_t input) { return exhausted_[input]; });
    return true;
  }
  void restore(StateReader& in) override {
    const std::int64_t most = static_cast<std::int64_t>(choice_) - 1;
    if (const std::int64_t chosen = in.number(-1, most); chosen >= 0) chosen_ = static_cast<std::size_t>(chosen);
    restore_inputs(in, choice_, [&](std::size_t input) { exhausted_[input] = true; });
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

// The choices of one pass, which are the same in each, one after the other.
class Choices {
 public:
  static constexpr bool kMayThrow = true;  // choices are elements of the user's

  explicit Choices(const graph::Positions& choice) : source_(choice.source), order_(choice.order()) {}

  void begin_pass(std::uint32_t epoch, std::uint32_t pass) {
    order_->begin_pass(epoch, pass);
    go_on();
  }
  std::int64_t size() const { return order_->size(); }
  std::optional<std::size_t> drawn() const noexcept { return drawn_; }
  void go_on() {
    drawn_.reset();
    if (const auto at = order_->next()) drawn_ = static_cast<std::size_t>(source_->at(*at).get<std::int64_t>());
  }
  void ended(std::size_t) { go_on(); }  // passed over

 private:
  std::shared_ptr<const IndexedSource> source_;
  std::unique_ptr<IndexSequence> order_;
  std::optional<std::size_t> drawn_;  // a negative one: more than there are datasets
};

// How often each dataset is chosen. nullopt: one of the choices is none, or they are too many to be counted.
std::optional<std::vector<std::int64_t>> counted(Choices choices, std::size_t datasets) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;  // some 20 ms
  if (choices.size() > kMost) return std::nullopt;
  std::vector<std::int64_t> counts(datasets, 0);
  for (choices.begin_pass(0, 0); const auto choice = choices.drawn(); choices.go_on()) {
    if (*choice >= counts.size()) return std::nullopt;
    ++counts[*choice];
  }
  return counts;
}

}  // namespace

Flow ChooseFromOp::flow_of(std::span<const Flow> inputs) const {
  return {.cardinality = cardinality_of_mixed(inputs),
          .leading_dimension = leading_dimension_of_all(inputs.first(inputs.size() - 1))};
}

std::unique_ptr<MergeState> ChooseFromOp::open(std::size_t inputs) const {
  return std::make_unique<State>(inputs, stop_on_empty_);
}

std::optional<graph::Positions> ChooseFromOp::over_positions(std::vector<graph::Positions> inputs) const {
  const graph::Positions choice = std::move(inputs.back());
  inputs.pop_back();
  const auto source = JoinedSource::of(inputs);
  if (!source || stop_on_empty_ || !choice.is_fixed) return std::nullopt;
  const auto counts = counted(Choices(choice), inputs.size());
  if (!counts) return std::nullopt;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) size += std::min((*counts)[i], inputs[i].order()->size());
  auto order = [choice, source, size, inputs = std::move(inputs)] {
    return std::make_unique<MixedSequence<Choices>>(Choices(choice), JoinedOrders(source, inputs), size);
  };
  return graph::Positions{.source = source, .order = std::move(order), .is_fixed = false};
}

OpRef choose_from(std::size_t datasets, const ChooseOptions& options) {
  if (datasets == 0) throw Error(ErrorCode::invalid_argument, "the list of datasets is empty; give at least one");
  return std::make_shared<ChooseFromOp>(options.stop_on_empty);
}

}  // namespace penstock::ops
