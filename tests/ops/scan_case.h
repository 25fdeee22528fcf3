#pragma once

#include <tuple>
#include <utility>

#include "tests/ops/case.h"

namespace op_cases {

struct scan : OneOfMany {
  static constexpr bool kCallsFunction = true;

  static std::pair<std::int64_t, Value> scanned(std::int64_t state, const Value& value) {
    return {model::floor_mod(31 * state + key(value), 1'000'003), model::affine(value, 1, state)};
  }

  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      auto item = read();
      if (!item || item->failed()) return item;
      if (op_.fails.holds(item->value)) return failed(*item);
      std::tie(state_, item->value) = scanned(state_, item->value);
      return item;
    }
    void reset() override { state_ = op_.first; }
    std::int64_t state_ = 0;
  };

  static auto build(const auto& in, const auto& harness) {
    const auto function = [](std::int64_t state, const Value& value) { return scanned(state, value); };
    return in.scan(harness.op.first, harness.scanning(function));
  }
  static void draw(Op& op, How&, Draw draw) { draw.function(op); }
  static void after(const Op&, Elements& out) { out.type = Elements::Type::value; }
  static std::vector<Line> lines() { return {{"scan", {{.kind = Kind::scan, .first = 3}}}}; }
};

}  // namespace op_cases
