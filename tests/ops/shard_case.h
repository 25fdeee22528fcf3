#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct shard : NeedsOrder {
  // Counts positions: an error has one.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      while (auto item = input_->next())
        if (counted_++ % op_.count == op_.index) return item;
      return std::nullopt;
    }
    void reset() override { counted_ = 0; }
    std::int64_t counted_ = 0;
  };

  static auto build(const auto& in, const auto& harness) { return in.shard(harness.op.count, harness.op.index); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.between(1, 4);
    op.index = draw.random.below(op.count);
  }
  static std::vector<Line> lines() {
    const Op second_of_three{.kind = Kind::shard, .count = 3, .index = 1};
    return {{"shard", {second_of_three}},
            {.name = "shard, over positions", .ops = {second_of_three}, .over_positions = true}};
  }
};

}  // namespace op_cases
