// A stream op of a user's own, through op.h: sums.
#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct own_stream : NeedsOrder {
  struct Meaning final : model::Collect {
    using Collect::Collect;
    Value together(std::vector<Value> values) const override { return model::sum_of(values); }
    bool has_enough() const override { return op_.index > 0 && given() == op_.index; }
  };

  static auto build(const auto& in, const auto& harness) { return harness.own_stream(in); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.between(1, 4);
    op.index = draw.random.below(5);
  }
  static void after(const Op&, Elements& out) {
    out.type = Elements::Type::value;
    out.has_lists = false;
  }
  static bool ends_passes(const Op& op) { return op.index > 0; }
  static std::vector<Line> lines() {
    return {{"own_stream", {{.kind = Kind::own_stream, .count = 3}}},
            {"own_stream, ends its pass", {{.kind = Kind::own_stream, .count = 2, .index = 2}}}};
  }
};

}  // namespace op_cases
