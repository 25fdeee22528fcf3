#pragma once

#include "tests/ops/batch_case.h"

namespace op_cases {

// None of the suites' elements has a length to a Ragged.
struct ragged_batch : batch {
  static auto build(const auto& in, const auto& harness) {
    return in.ragged_batch(harness.op.count, {.drop_remainder = harness.op.drop_remainder});
  }
  static std::int64_t weight(const Elements& in) { return OneOfMany::weight(in); }
  static std::vector<Line> lines() {
    return {{"ragged_batch", {{.kind = Kind::ragged_batch, .count = 4}}},
            {"ragged_batch, drop_remainder", {{.kind = Kind::ragged_batch, .count = 4, .drop_remainder = true}}}};
  }
};

}  // namespace op_cases
