#pragma once

#include <vector>

#include "tests/ops/case.h"

namespace op_cases {

struct cache : NeedsOrder {
  static constexpr const char* kOnlyCopyable = "keeps a copy of what it gives";

  // What is before it runs in pass 0 of epoch 0.
  struct Meaning final : model::Follower {
    explicit Meaning(Setup setup) : Follower(std::move(setup)), level_(clock_.rounds.size()) {}
    void begin_pass() override {
      given_ = 0;
      if (kept_.empty() && !begun_) in_first_pass([this] { input_->begin_pass(); });
      begun_ = true;
    }
    std::optional<Item> next() override {
      if (given_ == kept_.size()) {
        std::optional<Item> item;
        in_first_pass([&] { item = read(); });
        if (!item) return item;
        kept_.push_back(*item);
      }
      Item item = kept_[given_++];
      item.origin.epoch = clock_.epoch;
      item.origin.pass = clock_.pass();
      return item;
    }

    template <class F> void in_first_pass(F&& f) {
      const model::Clock now = clock_;
      clock_.epoch = 0;
      std::fill(clock_.rounds.begin() + static_cast<std::ptrdiff_t>(level_), clock_.rounds.end(), 0);
      f();
      clock_.epoch = now.epoch;
      std::copy(now.rounds.begin() + static_cast<std::ptrdiff_t>(level_), now.rounds.end(),
                clock_.rounds.begin() + static_cast<std::ptrdiff_t>(level_));
    }

    const std::size_t level_;
    std::vector<Item> kept_;
    std::size_t given_ = 0;
    bool begun_ = false;
  };

  // random_trees_test draws it: what a model knows of a shuffle are the epochs in which it runs.
  static constexpr bool kIsDrawn = false;
  static bool fits(const Elements&) { return false; }
  static auto build(const auto& in, const auto&) { return in.cache(); }
  static std::vector<Line> lines() {
    return {{"cache", {{.kind = Kind::cache}}},
            {"cache, repeated", {{.kind = Kind::cache}, {.kind = Kind::repeat, .count = 2}}}};
  }
};

}  // namespace op_cases
