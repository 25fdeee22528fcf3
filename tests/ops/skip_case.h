#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct skip : NeedsOrder {
  // Counts elements, lets errors pass.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      while (auto item = input_->next()) {
        if (item->failed() || (op_.count >= 0 && skipped_ == op_.count)) return item;
        ++skipped_;
      }
      return std::nullopt;
    }
    void reset() override { skipped_ = 0; }
    std::int64_t skipped_ = 0;
  };

  static auto build(const auto& in, const auto& harness) { return in.skip(harness.op.count); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.one_in(8) && !draw.in.endless ? -1 : draw.random.below(12);
  }
  static std::vector<Line> lines() {
    const Op three{.kind = Kind::skip, .count = 3};
    return {{"skip", {three}}, {.name = "skip, over positions", .ops = {three}, .over_positions = true}};
  }
};

}  // namespace op_cases
