#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct prefetch : AnyOp {
  class Meaning final : public model::Follower {
   public:
    using Follower::Follower;
    std::optional<Item> next() override { return input_->next(); }
  };

  template <class In, class Harness>
  static auto build(const In& in, const Harness& harness) {
    return in.prefetch(harness.elements_ahead());
  }
  static void draw(Op&, How& how, Draw draw) { how.parallelism = draw.random.below(9); }
  static std::vector<Line> lines() { return {{"prefetch", {{.kind = Kind::prefetch}}, {.parallelism = 3}}}; }
};

}  // namespace op_cases
