#pragma once

#include "tests/ops/case.h"

namespace op_cases {

// And from_indexed, which means the same.
struct from_vector : SourceCase {
  static constexpr const char* kOnlyCopyable = "gives copies";

  static auto build(const auto& harness) {
    std::vector<Value> values;
    for (std::int64_t i = 0; i < harness.op.count; ++i) values.push_back(model::source_value(harness.op, i));
    if (harness.how.as_indexed) return harness.from_indexed(harness.made(std::move(values)));
    return harness.from_vector(harness.made(std::move(values)));
  }
  static void draw(Op& op, How&, Draw draw) {
    draw.source(op);
    op.lists = draw.random.one_in(2);
  }
  static void after(const Op& op, Elements& out) {
    out.type = Elements::Type::value;
    out.has_lists = op.lists;
  }
  static std::vector<Line> lines() {
    return {{"from_vector", {{.kind = Kind::from_vector}}},
            {"from_indexed", {{.kind = Kind::from_vector}}, {.as_indexed = true}}};
  }
};

}  // namespace op_cases
