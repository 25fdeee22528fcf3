// An op of a user's own whose answers come later, through op.h.
#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct own_async : CallsFunction {
  struct Meaning final : model::Elementwise {
    using Elementwise::Elementwise;
    std::vector<Value> results(const Item& item) const override { return model::async_answer(item.value); }
    bool refuses(const Value& value) const override { return op_.loses.holds(value); }
  };

  static auto build(const auto& in, const auto& harness) { return harness.own_async(in); }
  static void draw(Op& op, How& how, Draw draw) {
    draw.function(op);
    // Where faults are meant, more often: nothing else loses answers, and graphs have this op as seldom as any other.
    const bool loses = draw.limits.faults ? !draw.random.one_in(4) : draw.random.one_in(2);
    if (loses) op.loses = draw.modulus();
    draw.calls(op, how);
  }
  static void after(const Op&, Elements& out) { out.type = Elements::Type::value; }
  static std::vector<Line> lines() {
    return {{"own_async", {{.kind = Kind::own_async}}},
            {"own_async, some answers lost", {{.kind = Kind::own_async, .loses = {4, 2}}}}};
  }
};

}  // namespace op_cases
