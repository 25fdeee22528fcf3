#pragma once

#include <algorithm>

#include "tests/ops/case.h"

namespace op_cases {

struct unique : OneOfMany {
  static constexpr bool kRemembers = true;
  static constexpr const char* kOnlyCopyable = "keeps a copy of what it has seen";

  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      for (auto item = read(); item; item = read()) {
        if (item->failed()) return item;
        if (std::ranges::find(seen_, item->value) != seen_.end()) continue;
        seen_.push_back(item->value);
        return item;
      }
      return std::nullopt;
    }
    void reset() override { seen_.clear(); }
    std::vector<Value> seen_;
  };

  static auto build(const auto& in, const auto&) { return in.unique(); }
  static bool fits(const Elements& in) { return OneOfMany::fits(in) && !in.is_batch() && !in.is_pair(); }
  static std::vector<Line> lines() { return {{"unique", {{.kind = Kind::unique}}}}; }
};

}  // namespace op_cases
