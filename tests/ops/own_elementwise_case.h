// An elementwise op of a user's own, through op.h.
#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct own_elementwise : CallsFunction {
  struct Meaning final : model::Elementwise {
    using Elementwise::Elementwise;
    std::vector<Value> results(const Item& item) const override { return model::own_answer(item.value); }
  };

  static auto build(const auto& in, const auto& harness) { return harness.own_elementwise(in); }
  static void draw(Op& op, How& how, Draw draw) {
    draw.function(op);
    draw.calls(op, how);
  }
  static void after(const Op&, Elements& out) { out.type = Elements::Type::value; }
  static std::vector<Line> lines() { return {{"own_elementwise", {{.kind = Kind::own_elementwise}}}}; }
};

}  // namespace op_cases
