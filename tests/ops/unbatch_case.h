#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct unbatch : AnyOp {
  static constexpr bool kTakesBatches = true;

  struct Meaning final : model::Elementwise {
    using Elementwise::Elementwise;
    std::vector<Value> results(const Item& item) const override { return item.value.rows; }
    bool refuses(const Value& value) const override { return !value.is_list; }
  };

  static auto build(const auto& in, const auto&) { return in.unbatch(); }
  static bool fits(const Elements& in) { return in.is_batch() || in.is_value(); }
  // Batches should be taken apart more often than numbers are found to have no rows.
  static std::int64_t weight(const Elements& in) { return in.has_lists ? 6 : 1; }
  static void after(const Op&, Elements& out) {
    if (!out.is_batch()) return;
    out.has_lists = false;
    out.type = out.row_type();
  }
  static std::vector<Line> lines() {
    return {{"unbatch", {{.kind = Kind::batch, .count = 2}, {.kind = Kind::unbatch}}}};
  }
};

}  // namespace op_cases
