#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct take : NeedsOrder {
  // Counts elements, lets errors pass; behind the last element nothing more is asked for.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      if (taken_ == op_.count) return std::nullopt;
      auto item = input_->next();
      if (item && !item->failed()) ++taken_;
      return item;
    }
    void reset() override { taken_ = 0; }
    std::int64_t taken_ = 0;
  };

  static auto build(const auto& in, const auto& harness) { return in.take(harness.op.count); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.one_in(8) && !draw.in.endless ? -1 : draw.random.below(30);
  }
  static void after(const Op& op, Elements& out) { out.endless = out.endless && op.count < 0; }
  static bool ends_passes(const Op& op) { return op.count >= 0; }
  static std::vector<Line> lines() {
    const Op five{.kind = Kind::take, .count = 5};
    return {{"take", {five}}, {.name = "take, over positions", .ops = {five}, .over_positions = true}};
  }
};

}  // namespace op_cases
