#pragma once

#include <algorithm>

#include "tests/ops/case.h"

namespace op_cases {

struct padded_batch : OneOfMany {
  static constexpr bool kMakesBatches = true;

  // op.index: the length of a row, 0: that of the longest.
  struct Meaning final : model::Collect {
    using Collect::Collect;
    Value together(std::vector<Value> rows) const override {
      std::size_t length = static_cast<std::size_t>(op_.index);
      if (op_.index == 0)
        for (const Value& row : rows) length = std::max(length, row.rows.size());
      for (Value& row : rows)
        while (row.is_list && row.rows.size() < length) row.rows.push_back(model::number(0));
      return model::list(std::move(rows));
    }
    bool fits(const std::vector<Value>& rows, const Value& value) const override {
      if (op_.index > 0 && std::ssize(value.rows) > op_.index) return false;
      return rows.empty() || rows.front().is_list == value.is_list;
    }
    bool bears_stamps_of_errors() const override { return true; }
  };

  static auto build(const auto& in, const auto& harness) {
    const Op& op = harness.op;
    if (op.index == 0) return in.padded_batch(op.count, {.drop_remainder = op.drop_remainder});
    return in.padded_batch(op.count, {.padded_shapes = std::vector{op.index}, .drop_remainder = op.drop_remainder});
  }
  static bool fits(const Elements& in) { return OneOfMany::fits(in) && !in.is_batch() && !in.is_pair(); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.between(1, 7);
    op.drop_remainder = draw.random.one_in(2);
    if (draw.in.is_value()) op.index = draw.random.between(0, 5);
  }
  static void after(const Op&, Elements& out) {
    out.has_lists = true;
    if (!out.is_value()) out.type = out.list_type();  // values have a PaddedCollate of their own
  }
  static std::vector<Line> lines() {
    return {{"padded_batch", {{.kind = Kind::padded_batch, .count = 4}}},
            {"padded_batch, drop_remainder", {{.kind = Kind::padded_batch, .count = 4, .drop_remainder = true}}}};
  }
};

}  // namespace op_cases
