#pragma once

#include <algorithm>
#include <fstream>

#include "tests/ops/case.h"

namespace op_cases {

struct from_file_list : SourceCase {
  static constexpr std::int64_t kLeastCount = 1;
  static constexpr const char* kOnlyCopyable = "gives strings";

  static auto build(const auto& harness) {
    const std::string list = harness.folder() + "/list.txt";
    std::ofstream stream(list);
    for (std::int64_t i = 0; i < harness.op.count; ++i)
      stream << "  images/" << model::source_value(harness.op, i).number << ".jpg\n\n";
    stream.close();
    return harness.from_file_list(list);
  }
  static void draw(Op& op, How&, Draw draw) {
    draw.source(op);
    op.count = std::max(op.count, kLeastCount);
  }
  static void after(const Op&, Elements& out) { out.type = Elements::Type::name; }
  static std::vector<Line> lines() { return {{"from_file_list", {{.kind = Kind::from_file_list}}}}; }
};

}  // namespace op_cases
