#pragma once

#include <algorithm>

#include "tests/ops/case.h"

namespace op_cases {

struct rebatch : NeedsOrder {
  static constexpr bool kHoldsUnknown = true;
  static constexpr std::int64_t kBytesBeside = 2 * 100;  // of three rows, as lines() have them, two have left
  static constexpr bool kTakesBatches = true;
  static constexpr bool kMakesSameBatches = true;

  // op.count rows, then op.index.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      while (std::ssize(rows_) < wanted() && !has_ended_) {
        auto item = read();
        has_ended_ = !item;
        if (!item) break;
        if (item->failed()) return item;
        if (!item->value.is_list) return refused(*item);
        last_ = *item;
        rows_.insert(rows_.end(), item->value.rows.begin(), item->value.rows.end());
      }
      return next_batch();
    }
    void reset() override {
      rows_.clear();
      given_ = 0;
      has_ended_ = false;
    }

    std::int64_t wanted() const { return given_ % 2 == 0 ? op_.count : op_.index; }
    std::optional<Item> next_batch() {
      const auto count = std::min(wanted(), std::ssize(rows_));
      if (count == 0 || (op_.drop_remainder && count < wanted())) return std::nullopt;
      ++given_;
      Item batch = last_;
      batch.value = model::list({rows_.begin(), rows_.begin() + count});
      rows_.erase(rows_.begin(), rows_.begin() + count);
      return batch;
    }

    std::vector<Value> rows_;
    Item last_;
    std::int64_t given_ = 0;
    bool has_ended_ = false;
  };

  static auto build(const auto& in, const auto& harness) {
    const Op& op = harness.op;
    return in.rebatch({op.count, op.index}, {.drop_remainder = op.drop_remainder});
  }
  static bool fits(const Elements& in) {
    return NeedsOrder::fits(in) && (in.type == Elements::Type::numbers || in.type == Elements::Type::names);
  }
  static std::int64_t weight(const Elements&) { return 64; }  // few ops make batches
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.between(1, 7);
    op.index = draw.random.between(1, 7);
    op.drop_remainder = draw.random.one_in(2);
  }
  static std::vector<Line> lines() {
    return {{"rebatch", {{.kind = Kind::batch, .count = 3}, {.kind = Kind::rebatch, .count = 2, .index = 4}}}};
  }
};

}  // namespace op_cases
