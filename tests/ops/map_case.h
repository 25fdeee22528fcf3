#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct map : CallsFunction {
  static Value mapped(const Op& op, const Value& value, const model::Origin& origin) {
    return model::affine(value, op.step, op.first + (op.stamped ? model::stamp_number(origin) : 0));
  }

  struct Meaning final : model::Elementwise {
    using Elementwise::Elementwise;
    std::vector<Value> results(const Item& item) const override { return {mapped(op_, item.value, item.origin)}; }
  };

  static auto build(const auto& in, const auto& harness) {
    const auto function = [op = harness.op](const Value& value, const model::Origin& origin = {}) {
      return mapped(op, value, origin);
    };
    if (harness.how.with_context)
      return in.map(harness.in_context(function), harness.parallelism(), harness.map_options());
    return in.map(harness.function(function), harness.parallelism(), harness.map_options());
  }
  static void draw(Op& op, How& how, Draw draw) {
    draw.function(op);
    op.stamped = draw.random.one_in(4);
    draw.calls(op, how);
  }
  static void after(const Op&, Elements& out) { out.type = Elements::Type::value; }
  static std::vector<Line> lines() {
    const Op kept{.kind = Kind::map, .first = 3, .step = 2};
    Op arbitrary = kept;
    arbitrary.arbitrary = true;
    return {{"map", {kept}},
            {"map, blocks", {kept}, {.parallelism = 4, .blocks = 1}},
            {"map, order arbitrary", {arbitrary}, {.parallelism = 4}}};
  }
};

}  // namespace op_cases
