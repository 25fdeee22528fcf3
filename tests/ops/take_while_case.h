#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct take_while : OneOfMany {
  static constexpr bool kCallsFunction = true;

  // As long as the value is not in the class that op.keeps names.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      auto item = has_ended_ ? std::nullopt : read();
      if (!item || item->failed()) return item;
      if (op_.fails.holds(item->value)) return failed(*item);
      has_ended_ = op_.keeps.holds(item->value);
      return has_ended_ ? std::nullopt : item;
    }
    void reset() override { has_ended_ = false; }
    bool has_ended_ = false;
  };

  static auto build(const auto& in, const auto& harness) {
    const auto goes_on = [ends_at = harness.op.keeps](const Value& value) { return !ends_at.holds(value); };
    return in.take_while(harness.predicate(goes_on));
  }
  static void draw(Op& op, How&, Draw draw) {
    draw.function(op);
    op.keeps.mod *= draw.random.between(1, 5);  // not always after a few
  }
  static bool ends_passes(const Op&) { return true; }
  static std::vector<Line> lines() { return {{"take_while", {{.kind = Kind::take_while, .keeps = {7, 6}}}}}; }
};

}  // namespace op_cases
