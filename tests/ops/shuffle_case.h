#pragma once

#include "tests/ops/case.h"

namespace op_cases {

struct shuffle : AnyOp {
  // Follows the tape, and reads of its input what is on it. An element may leave at most count - 1
  // places early. Without a tape in any order.
  struct Meaning final : model::Follower {
    using Follower::Follower;
    std::optional<Item> next() override {
      if (tape_ == nullptr) return next_of_any_order();
      if (pass_ == nullptr) {
        if (!fetch()) return std::nullopt;
        if (next_pass_ == tape_->size())
          throw model::IllegalOrder("the shuffle gave fewer passes than it was asked for");
        pass_ = &(*tape_)[next_pass_++];
      }
      if (on_tape_ == pass_->items.size()) return at_end_of_tape();
      return find(pass_->items[on_tape_++]);
    }
    std::optional<Item> next_of_any_order() {
      auto item = input_->next();
      if (item) item->group = passes_;
      return item;
    }
    void reset() override {
      ++passes_;
      pool_.clear();
      read_ = given_ = on_tape_ = 0;
      pass_ = nullptr;
    }
    bool fetch() {
      auto item = input_->next();
      if (!item) return false;
      if (!item->failed()) ++read_;
      pool_.push_back(std::move(*item));
      return true;
    }
    std::optional<Item> at_end_of_tape() {
      if (!pass_->ended) throw model::IllegalOrder("the shuffle was not asked for as much as the ops behind it need");
      if (!pool_.empty() || fetch()) throw model::IllegalOrder("the shuffle has lost an element");
      return std::nullopt;
    }
    std::optional<Item> find(const Item& wanted) {
      std::size_t at = 0;
      while (!is_same(wanted, at)) ++at;
      if (op_.count > 0 && read_ > given_ + op_.count)
        throw model::IllegalOrder("an element left the shuffle too early");
      Item item = std::move(pool_[at]);
      pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(at));
      if (!item.failed()) ++given_;
      return item;
    }
    bool is_same(const Item& wanted, std::size_t at) {
      if (at == pool_.size() && !fetch()) throw model::IllegalOrder("the shuffle gave an element that it did not have");
      const Item& item = pool_[at];
      if (wanted.failed() || item.failed()) return wanted.failed() && item.failed();
      return item.value == wanted.value && item.origin == wanted.origin;
    }

    std::vector<Item> pool_;
    std::int64_t read_ = 0;  // elements, without errors
    std::int64_t given_ = 0;
    std::size_t on_tape_ = 0;
    const model::TapePass* pass_ = nullptr;
    std::size_t next_pass_ = 0;
    int passes_ = 0;
  };

  static auto build(const auto& in, const auto& harness) {
    return in.shuffle(harness.op.count, harness.shuffle_options());
  }
  static void draw(Op& op, How& how, Draw draw) {
    op.count = draw.random.one_in(4) && !draw.in.endless ? -2 : draw.random.between(1, 40);
    how.seed = draw.random.next();
    how.reshuffle = !draw.random.one_in(4);
  }
  static std::vector<Line> lines() {
    const Op four{.kind = Kind::shuffle, .count = 4};
    const Op all{.kind = Kind::shuffle, .count = 100};
    const How how{.seed = 7}, as_tensorflow{.seed = 7, .as_tensorflow = true};
    return {{"shuffle", {four}, how},
            {"shuffle, a window over positions", {four}, how, true},
            {"shuffle, all positions", {all}, how, true},
            {"shuffle, TensorFlow's order", {four}, as_tensorflow},
            {"shuffle, TensorFlow's order of positions", {four}, as_tensorflow, true}};
  }
};

}  // namespace op_cases
