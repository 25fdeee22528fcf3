#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct batch : NeedsOrder {
  static constexpr bool kMakesBatches = true;

  struct Meaning final : model::Collect {
    using Collect::Collect;
    Value together(std::vector<Value> rows) const override { return model::list(std::move(rows)); }
    bool fits(const std::vector<Value>& rows, const Value& value) const override {
      return rows.empty() || rows.front().is_list == value.is_list;
    }
    bool bears_stamps_of_errors() const override { return true; }
  };

  static auto build(const auto& in, const auto& harness) {
    return in.batch(harness.op.count, {.drop_remainder = harness.op.drop_remainder});
  }
  static bool fits(const Elements& in) { return NeedsOrder::fits(in) && !in.is_batch() && !in.is_pair(); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.between(1, 7);
    op.drop_remainder = draw.random.one_in(2);
  }
  static void after(const Op&, Elements& out) {
    out.has_lists = true;
    if (!out.is_value()) out.type = out.list_type();  // values have a Collate of their own
  }
  static std::vector<Line> lines() {
    return {{"batch", {{.kind = Kind::batch, .count = 4}}},
            {"batch, drop_remainder", {{.kind = Kind::batch, .count = 4, .drop_remainder = true}}}};
  }
};

}  // namespace op_cases
