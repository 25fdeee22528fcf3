#include "ops/concatenate.h"

#include <penstock/ops.h>

#include <algorithm>
#include <memory>
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
  bool save(StateWriter& out) const override {
    out.number(static_cast<std::int64_t>(reading_));
    return true;
  }
  void restore(StateReader& in) override {
    reading_ = static_cast<std::size_t>(in.number(0, static_cast<std::int64_t>(inputs_)));
  }

 private:
  const std::size_t inputs_;
  std::size_t reading_ = 0;
};

// One order after the other.
class Sequence final : public IndexSequence {
 public:
  explicit Sequence(JoinedOrders inputs) : inputs_(std::move(inputs)) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) before_.push_back(before_.back() + inputs_.order(i).size());
  }

  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    inputs_.begin_pass(epoch, pass);
    has_at_ = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      has_at_ = has_at_ && (inputs_.order(i).size() == 0 || inputs_.order(i).at(0));
    given_ = 0;
    reading_ = 0;
  }
  std::optional<std::int64_t> next() override {
    if (given_ == size()) return std::nullopt;
    while (given_ == before_[reading_ + 1]) ++reading_;
    ++given_;
    return inputs_.next(reading_);
  }
  std::size_t next_few(std::span<std::int64_t> positions) override {
    if (given_ == size()) return 0;
    while (given_ == before_[reading_ + 1]) ++reading_;
    ++given_;  // one that throws counts, too
    const std::size_t few = inputs_.next_few(reading_, positions);
    given_ += static_cast<std::int64_t>(few) - 1;
    return few;
  }
  void skip(std::int64_t count) override {
    const std::int64_t end = given_ + std::clamp<std::int64_t>(count, 0, size() - given_);
    while (given_ < end) {
      const std::int64_t here = std::min(end, before_[reading_ + 1]) - given_;
      inputs_.order(reading_).skip(here);
      given_ += here;
      if (given_ == before_[reading_ + 1] && given_ < size()) ++reading_;
    }
  }
  std::optional<std::int64_t> at(std::int64_t i) const override {
    if (!has_at_) return std::nullopt;  // of none, so that nobody relies on it who has asked for the first one
    const std::size_t input = last_start_up_to(i, before_);
    return inputs_.at(input, i - before_[input]);
  }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    if (position < 0 || position >= inputs_.source().size()) return size();
    const std::size_t input = inputs_.source().input_of(position);
    const auto i = inputs_.order(input).find(position - inputs_.source().start_of(input));
    if (!i) return std::nullopt;
    return *i < inputs_.order(input).size() ? before_[input] + *i : size();
  }
  std::int64_t size() const override { return before_.back(); }

 private:
  JoinedOrders inputs_;
  std::vector<std::int64_t> before_{0};  // elements before each input, and before the end
  bool has_at_ = false;
  std::int64_t given_ = 0;
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

std::optional<graph::Positions> ConcatenateOp::over_positions(std::vector<graph::Positions> inputs) const {
  auto source = JoinedSource::of(inputs);
  if (!source) return std::nullopt;
  const bool is_fixed = all_are_fixed(inputs);
  auto order = [source, inputs = std::move(inputs)] {
    return std::make_unique<Sequence>(JoinedOrders(source, inputs));
  };
  return graph::Positions{.source = source, .order = std::move(order), .is_fixed = is_fixed};
}

OpRef concatenate() { return std::make_shared<ConcatenateOp>(); }

}  // namespace penstock::ops
