#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct range : SourceCase {
  static constexpr const char* kOnlyCopyable = "gives integers";

  static auto build(const auto& harness) {
    const Op& op = harness.op;
    return harness.range(op.first, op.first + op.count * op.step, op.step);
  }
  static void draw(Op& op, How&, Draw draw) { draw.source(op); }
  static std::vector<Line> lines() { return {{"range", {{.kind = Kind::range}}}}; }
};

}  // namespace op_cases
