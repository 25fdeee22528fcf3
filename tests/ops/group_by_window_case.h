#pragma once

#include <map>

#include "tests/ops/case.h"

namespace op_cases {

struct group_by_window : OneOfMany {
  static constexpr bool kHoldsUnknown = true;
  static constexpr std::int64_t kBytesBeside = 2 * 256;  // for each group of lines()
  static constexpr bool kMakesBatches = true;
  static constexpr bool kCallsFunction = true;

  // op.keeps says only how many groups there are.
  static std::int64_t group_of(const Op& op, const Value& value) { return -model::floor_mod(key(value), op.keeps.mod); }

  // op.count elements in each group.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      while (auto item = read()) {
        if (item->failed()) return item;
        if (op_.fails.holds(item->value)) return failed(*item);
        const std::int64_t group = group_of(op_, item->value);
        groups_[group].push_back(std::move(*item));
        if (std::ssize(groups_[group]) == op_.count) return take(group);
      }
      if (groups_.empty()) return std::nullopt;
      return take(groups_.begin()->first);
    }
    void reset() override { groups_.clear(); }

    Item take(std::int64_t group) {
      const std::vector<Item> items = std::move(groups_.extract(group).mapped());
      Item result = items.back();
      std::vector<Value> rows;
      for (const Item& item : items) rows.push_back(item.value);
      result.value = model::list(std::move(rows));
      return result;
    }
    std::map<std::int64_t, std::vector<Item>> groups_;
  };

  static auto build(const auto& in, const auto& harness) {
    const auto group = [op = harness.op](const Value& value) { return group_of(op, value); };
    return in.group_by_window(harness.predicate(group), harness.op.count);
  }
  static bool fits(const Elements& in) { return OneOfMany::fits(in) && !in.is_batch() && !in.is_pair(); }
  static void draw(Op& op, How&, Draw draw) {
    draw.function(op);
    op.count = draw.random.between(1, 5);
    op.keeps.mod = draw.random.between(1, 4);
  }
  static void after(const Op&, Elements& out) {
    out.type = out.list_type();
    out.has_lists = true;
  }
  static std::vector<Line> lines() {
    return {{"group_by_window", {{.kind = Kind::group_by_window, .count = 3, .keeps = {2, 0}}}}};
  }
};

}  // namespace op_cases
