#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct ignore_errors : AnyOp {
  static constexpr bool kDropsErrors = true;

  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      for (;; ++clock_.dropped) {
        auto item = input_->next();
        if (!item || !item->failed()) return item;
      }
    }
  };

  static auto build(const auto& in, const auto&) { return in.ignore_errors(); }
  static std::vector<Line> lines() { return {{"ignore_errors", {{.kind = Kind::ignore_errors}}}}; }
};

}  // namespace op_cases
