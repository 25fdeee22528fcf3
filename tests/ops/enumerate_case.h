#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct enumerate : OneOfMany {
  static constexpr bool kMakesPairs = true;

  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      auto item = read();
      const std::int64_t position = position_++;
      if (item && !item->failed()) item->value = model::list({model::number(op_.first + position), item->value});
      return item;
    }
    void reset() override { position_ = 0; }
    std::int64_t position_ = 0;
  };

  static auto build(const auto& in, const auto& harness) { return in.enumerate(harness.op.first); }
  static bool fits(const Elements& in) { return OneOfMany::fits(in) && in.is_value(); }
  static void draw(Op& op, How&, Draw draw) { op.first = draw.random.between(-5, 50); }
  static void after(const Op&, Elements& out) {
    out.type = Elements::Type::pair;
    out.has_lists = true;
  }
  static std::vector<Line> lines() { return {{"enumerate", {{.kind = Kind::enumerate, .first = 5}}}}; }
};

}  // namespace op_cases
