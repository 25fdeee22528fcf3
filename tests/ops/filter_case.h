#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct filter : CallsFunction {
  struct Meaning final : model::Elementwise {
    using Elementwise::Elementwise;
    std::vector<Value> results(const Item& item) const override {
      if (!op_.keeps.holds(item.value)) return {};
      return {item.value};
    }
  };

  static auto build(const auto& in, const auto& harness) {
    const auto keeps = [modulus = harness.op.keeps](const Value& value) { return modulus.holds(value); };
    return in.filter(harness.predicate(keeps), {.parallelism = harness.parallelism(), .order = harness.order()});
  }
  static void draw(Op& op, How& how, Draw draw) {
    draw.function(op);
    draw.calls(op, how);
  }
  static std::vector<Line> lines() { return {{"filter", {{.kind = Kind::filter, .keeps = {3, 1}}}}}; }
};

}  // namespace op_cases
