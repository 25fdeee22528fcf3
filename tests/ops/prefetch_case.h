#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct prefetch : AnyOp {
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override { return input_->next(); }
  };

  static auto build(const auto& in, const auto& harness) { return in.prefetch(harness.elements_ahead()); }
  static void draw(Op&, How& how, Draw draw) { how.parallelism = draw.random.below(9); }
  static std::vector<Line> lines() { return {{"prefetch", {{.kind = Kind::prefetch}}, {.parallelism = 3}}}; }
};

}  // namespace op_cases
