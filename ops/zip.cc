#include "ops/zip.h"

#include <penstock/ops.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ops/merging.h"

namespace penstock::ops {
namespace {

class State final : public MergeState {
 public:
  explicit State(const detail::TupleMaker& maker) : maker_(maker), parts_(maker.size()) {}

  void begin_pass(const Stamp&) override { failed_.reset(); }
  Want want() const override { return Want::all(); }
  void take(std::size_t input, Slot&& slot, Emitter& out) override {
    if (input == 0) first_ = slot.stamp;
    if (slot.is_element()) {
      parts_[input] = std::move(slot.value);
    } else if (!failed_) {
      failed_ = std::move(slot);
    }
    if (input + 1 == parts_.size()) give_row(out);
  }
  void ended(std::size_t, Emitter&) override {}
  bool save(StateWriter&) const override { return true; }  // between two rows there is nothing to say

 private:
  void give_row(Emitter& out) {
    if (failed_) {
      for (Element& part : parts_) part.reset();
      out.forward(*std::exchange(failed_, std::nullopt));
    } else {
      out.emit(maker_.make(parts_), first_);
    }
  }

  const detail::TupleMaker& maker_;  // of the op, which lives longer
  std::vector<Element> parts_;
  std::optional<Slot> failed_;  // the first error of this position
  Stamp first_;                 // of the first input's slot
};

}  // namespace

Flow ZipOp::flow_of(std::span<const Flow> inputs) const {
  if (any_is(inputs, UNKNOWN_CARDINALITY)) return {};
  std::int64_t least = INFINITE_CARDINALITY;
  for (const Flow& input : inputs) {
    if (input.cardinality >= 0 && (least < 0 || input.cardinality < least)) least = input.cardinality;
  }
  return {.cardinality = least};
}

std::unique_ptr<MergeState> ZipOp::open(std::size_t) const { return std::make_unique<State>(*maker_); }

std::optional<graph::Positions> ZipOp::over_positions(std::vector<graph::Positions> inputs) const {
  if (!all_are_fixed(inputs) || inputs.size() > kMostParts) return std::nullopt;
  return rows_of(inputs, [maker = maker_](std::int64_t, std::span<Element> parts) { return maker->make(parts); });
}

OpRef zip(detail::TupleMakerRef maker) { return std::make_shared<ZipOp>(std::move(maker)); }

}  // namespace penstock::ops
