#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct flat_map : CallsFunction {
  static std::vector<Value> children(const Op& op, const Value& value) {
    std::vector<Value> result;
    const std::int64_t n = model::floor_mod(key(value), op.step + 1);
    for (std::int64_t i = 0; i < n; ++i)
      result.push_back(model::number(model::floor_mod(3 * key(value) + i, 1'000'003)));
    return result;
  }

  struct Meaning final : model::Elementwise {
    using Elementwise::Elementwise;
    std::vector<Value> results(const Item& item) const override { return children(op_, item.value); }
  };

  static auto build(const auto& in, const auto& harness) {
    const auto function = [op = harness.op](const Value& value) { return children(op, value); };
    if (harness.how.as_dataset)
      return in.flat_map(harness.function_to_dataset(function), harness.parallelism(), harness.map_options());
    return in.flat_map(harness.function(function), harness.parallelism(), harness.map_options());
  }
  static void draw(Op& op, How& how, Draw draw) {
    draw.function(op);
    draw.calls(op, how);
  }
  static void after(const Op&, Elements& out) {
    out.type = Elements::Type::value;
    out.has_lists = false;
  }
  static std::vector<Line> lines() {
    const Op three{.kind = Kind::flat_map, .step = 3};
    return {{"flat_map", {three}}, {"flat_map, to a dataset", {three}, {.as_dataset = true}}};
  }
};

}  // namespace op_cases
