// Ops at work: each asks the one before it for the next item.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/list_model.h"

namespace model {

// After the end of a pass, next() may be asked again and gives the end again.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual void begin_pass() = 0;
  virtual std::optional<Item> next() = 0;
};

using Input = std::unique_ptr<Stage>;

// What only sources move.
struct Clock {
  std::uint32_t epoch = 0;
  std::vector<std::int64_t> rounds = {};  // of the repeats, the nearest to the source first
  std::int64_t work_left = 0;
  std::int64_t dropped = 0;

  // With one repeat its round; outer rounds jump far, so that the passes of nested repeats do not
  // meet.
  std::uint32_t pass() const {
    std::uint32_t number = 0, step = 1;
    for (const std::int64_t round : rounds) {
      number += static_cast<std::uint32_t>(round) * step;
      step *= 0x9E3779B1u;
    }
    return number;
  }
};

// An op with one before it.
class Follower : public Stage {
 public:
  Follower(const Op& op, int position, Input input)
      : op_(op), position_(position), input_(std::move(input)) {}
  void begin_pass() override {
    input_->begin_pass();
    reset();
  }

 protected:
  virtual void reset() {}
  Item failed(Item item, std::int64_t input, std::string cause) const {
    item.failed_op = position_;
    item.input = input;
    item.cause = std::move(cause);
    return item;
  }

  const Op& op_;
  const int position_;
  const Input input_;
};

// `tape`: of a shuffle; null: it counts as an op that keeps no order.
Input stage_for(const Op& op, int position, const Tape* tape, Input input, Clock& clock);

}  // namespace model
