#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct repeat : AnyOp {
  struct Meaning final : model::Follower {
    explicit Meaning(Setup setup) : Follower(std::move(setup)), level_(clock_.rounds.size()) {
      if (op_.count != 1) clock_.rounds.push_back(0);
    }
    void begin_pass() override {
      round_ = 0;
      begin_round();
    }
    std::optional<Item> next() override {
      while (round_ != op_.count) {
        auto item = input_->next();
        empty_ = empty_ && !item;
        if (item) return item;
        ++round_;
        if (op_.count < 0 && empty_) round_ = op_.count;
        begin_round();
      }
      return std::nullopt;
    }
    void begin_round() {
      if (round_ == op_.count) return;
      if (op_.count != 1) clock_.rounds[level_] = round_;
      input_->begin_pass();
      empty_ = true;
    }

    const std::size_t level_;
    std::int64_t round_ = 0;
    bool empty_ = true;
  };

  static auto build(const auto& in, const auto& harness) { return in.repeat(harness.op.count); }
  static void draw(Op& op, How&, Draw draw) {
    op.count = draw.random.one_in(3) && !draw.in.arbitrary ? -1 : draw.random.below(4);
  }
  static void after(const Op& op, Elements& out) { out.endless = out.endless || op.count < 0; }
  static bool ends_passes(const Op& op) { return op.count <= 0; }
  static std::vector<Line> lines() {
    return {{"repeat", {{.kind = Kind::repeat, .count = 3}}},
            {"repeat, without end", {{.kind = Kind::repeat, .count = -1}, {.kind = Kind::take, .count = 25}}}};
  }
};

}  // namespace op_cases
