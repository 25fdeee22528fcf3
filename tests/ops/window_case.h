#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct window : OneOfMany {
  static constexpr bool kMakesBatches = true;
  static constexpr const char* kOnlyCopyable = "copies where windows overlap";

  // op.count elements, op.index from one beginning to the next, op.step apart.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      for (;;) {
        if (end_of_window() <= std::ssize(seen_) || (has_ended_ && !op_.drop_remainder && has_begun())) {
          auto window = next_window();
          if (window) return window;
        } else if (has_ended_) {
          return std::nullopt;
        } else if (auto error = see()) {
          return error;
        }
      }
    }
    void reset() override {
      seen_.clear();
      window_ = 0;
      has_ended_ = false;
    }

    std::int64_t place(std::int64_t i) const { return window_ * op_.index + i * op_.step; }
    std::int64_t end_of_window() const { return place(op_.count - 1) + 1; }
    bool has_begun() const { return place(0) < std::ssize(seen_); }

    // An error that some window has.
    std::optional<Item> see() {
      auto item = read();
      has_ended_ = !item;
      if (!item) return std::nullopt;
      const std::int64_t at = std::ssize(seen_);
      seen_.push_back(item->failed() ? std::nullopt : item);
      return item->failed() && is_in_a_window(at) ? item : std::nullopt;
    }
    bool is_in_a_window(std::int64_t at) const {
      for (std::int64_t begin = 0; begin <= at; begin += op_.index) {
        for (std::int64_t i = 0; i < op_.count; ++i) {
          if (begin + i * op_.step == at) return true;
        }
      }
      return false;
    }
    // Nothing: all of it has failed, or some of it and a short one is left out.
    std::optional<Item> next_window() {
      std::vector<Value> rows;
      Item result;
      for (std::int64_t i = 0; i < op_.count && place(i) < std::ssize(seen_); ++i) {
        const auto& item = seen_[static_cast<std::size_t>(place(i))];
        if (!item) continue;
        result = *item;
        rows.push_back(item->value);
      }
      ++window_;
      const bool is_whole = std::ssize(rows) == op_.count;
      if (rows.empty() || (op_.drop_remainder && !is_whole)) return std::nullopt;
      result.value = model::list(std::move(rows));
      return result;
    }

    std::vector<std::optional<Item>> seen_;  // in this pass; none: it failed
    std::int64_t window_ = 0;
    bool has_ended_ = false;
  };

  static auto build(const auto& in, const auto& harness) {
    const Op& op = harness.op;
    return in.window(op.count, {.shift = op.index, .stride = op.step, .drop_remainder = op.drop_remainder});
  }
  static bool fits(const Elements& in) { return OneOfMany::fits(in) && !in.is_batch() && !in.is_pair(); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.between(1, 5);
    op.index = draw.random.between(1, 6);
    op.step = draw.random.between(1, 3);
    op.drop_remainder = draw.random.one_in(2);
  }
  static void after(const Op&, Elements& out) {
    out.type = out.list_type();
    out.has_lists = true;
  }
  static std::vector<Line> lines() {
    const Op gaps{.kind = Kind::window, .count = 2, .index = 5, .step = 3, .drop_remainder = true};
    return {{"window", {{.kind = Kind::window, .count = 3, .index = 2}}}, {"window, with gaps", {gaps}}};
  }
};

}  // namespace op_cases
