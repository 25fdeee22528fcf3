#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "tests/ops/case.h"
#include "tests/ops/flat_map_case.h"

namespace op_cases {

// count: cycle_length, index: block_length. The function's results are those of flat_map.
struct interleave : CallsFunction {
  // The rule as tf.data's sources have it.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      for (;;) {
        auto& place = places_[turn_];
        if (!place && !fill(place)) {
          if (open_ == 0) return std::nullopt;
          go_on();
        } else if (place->empty()) {
          place.reset();
          --open_;
          go_on();
        } else {
          Item item = std::move(place->front());
          place->pop_front();
          if (++given_ == op_.index) go_on();
          return item;
        }
      }
    }

   private:
    using Place = std::optional<std::deque<Item>>;

    bool fill(Place& place) {
      const auto item = read();
      if (!item) return false;
      ++open_;
      place.emplace();
      if (item->failed()) {
        place->push_back(*item);
      } else if (op_.fails.holds(item->value)) {
        place->push_back(failed(*item));
      } else {
        for (Value& value : flat_map::children(op_, item->value)) {
          place->push_back(*item);
          place->back().value = std::move(value);
        }
      }
      return true;
    }
    void go_on() {
      turn_ = (turn_ + 1) % places_.size();
      given_ = 0;
    }
    void reset() override {
      places_.assign(static_cast<std::size_t>(op_.count), std::nullopt);
      turn_ = open_ = 0;
      given_ = 0;
    }

    std::vector<Place> places_;
    std::size_t turn_ = 0, open_ = 0;
    std::int64_t given_ = 0;  // of the block
  };

  // random_nests_test draws it, in trees.
  static constexpr bool kIsDrawn = false;
  static bool fits(const Elements&) { return false; }
  static auto build(const auto& in, const auto& harness) {
    const auto function = [op = harness.op](const Value& value) { return flat_map::children(op, value); };
    return in.interleave(harness.function_to_dataset(function), harness.interleave_options());
  }
  static std::vector<Line> lines() {
    const Op two{.kind = Kind::interleave, .count = 2, .index = 1, .step = 3};
    const Op blocks{.kind = Kind::interleave, .count = 3, .index = 2, .step = 5};
    return {{"interleave", {two}}, {"interleave, in blocks", {blocks}}};
  }
};

}  // namespace op_cases
