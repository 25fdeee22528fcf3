#pragma once

#include <algorithm>
#include <array>

#include "tests/ops/case.h"

namespace op_cases {

struct bucket_by_sequence_length : OneOfMany {
  static constexpr bool kHoldsUnknown = true;
  static constexpr bool kMakesBatches = true;
  static constexpr bool kCallsFunction = true;

  // A list's own, and of numbers one that they are given.
  static std::int64_t length_of(const Op& op, const Value& value) {
    return value.is_list ? std::ssize(value.rows) : model::floor_mod(model::key(value), op.keeps.mod);
  }

  // op.count elements that are shorter than op.first, else op.index, or none.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      while (auto item = read()) {
        if (item->failed()) return item;
        if (op_.fails.holds(item->value)) return failed(*item);
        if (op_.pads_to_boundary && length_of(op_, item->value) >= op_.first) return refused(*item);
        const std::size_t bucket = length_of(op_, item->value) < op_.first ? 0 : 1;
        auto& items = buckets_[bucket];
        if (!items.empty() && items.front().value.is_list != item->value.is_list) return refused(*item);
        items.push_back(std::move(*item));
        if (std::ssize(items) == (bucket == 0 ? op_.count : op_.index)) return take(bucket);
      }
      for (const std::size_t bucket : {0U, 1U})
        if (!buckets_[bucket].empty() && !op_.drop_remainder) return take(bucket);
      return std::nullopt;
    }
    void reset() override { buckets_ = {}; }

    Item take(std::size_t bucket) {
      const std::vector<Item> items = std::exchange(buckets_[bucket], {});
      Item result = items.back();
      std::size_t longest = 0;
      for (const Item& item : items) longest = std::max(longest, item.value.rows.size());
      if (op_.pads_to_boundary) longest = static_cast<std::size_t>(op_.first - 1);
      std::vector<Value> rows;
      for (const Item& item : items) {
        rows.push_back(item.value);
        while (item.value.is_list && rows.back().rows.size() < longest) rows.back().rows.push_back(model::number(0));
      }
      result.value = model::list(std::move(rows));
      return result;
    }
    std::array<std::vector<Item>, 2> buckets_;
  };

  static auto build(const auto& in, const auto& harness) {
    const Op& op = harness.op;
    const auto length = [op](const Value& value) { return length_of(op, value); };
    return in.bucket_by_sequence_length(harness.predicate(length), {.bucket_boundaries = {op.first},
                                                                    .bucket_batch_sizes = {op.count, op.index},
                                                                    .pad_to_bucket_boundary = op.pads_to_boundary,
                                                                    .drop_remainder = op.drop_remainder});
  }
  static bool fits(const Elements& in) { return OneOfMany::fits(in) && !in.is_batch() && !in.is_pair(); }
  static void draw(Op& op, How&, Draw draw) {
    draw.function(op);
    op.count = draw.random.between(1, 5);
    op.index = draw.random.between(1, 5);
    op.first = draw.random.between(1, 3);
    op.keeps.mod = draw.random.between(1, 5);
    op.drop_remainder = draw.random.one_in(2);
    op.pads_to_boundary = op.count > op.index;  // no draw of its own: seeds mean the same graphs as before
  }
  static void after(const Op&, Elements& out) {
    out.has_lists = true;
    if (!out.is_value()) out.type = out.list_type();  // values have a PaddedCollate of their own
  }
  static std::vector<Line> lines() {
    const Op op{.kind = Kind::bucket_by_sequence_length, .count = 4, .index = 3, .first = 2, .keeps = {5, 0}};
    Op drop = op;
    drop.drop_remainder = true;
    Op pad = op;
    pad.pads_to_boundary = true;
    pad.first = op.keeps.mod + 1;  // nothing lies beyond it
    return {{"bucket_by_sequence_length", {op}},
            {"bucket_by_sequence_length, drop_remainder", {drop}},
            {"bucket_by_sequence_length, pad_to_bucket_boundary", {pad}}};
  }
};

}  // namespace op_cases
