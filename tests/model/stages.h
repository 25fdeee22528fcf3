// Ops at work: each asks the one before it for the next item.
#pragma once

#include <cstdint>
#include <deque>
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

// What an op is put to work with.
struct Setup {
  const Op& op;
  int position;
  const Tape* tape;  // of a shuffle; null: it counts as an op that keeps no order
  Input input;       // null: the op is a source
  Clock& clock;
};

// The words in which a function fails.
std::string fails_on(const Op& op, const Value& value);

// Gives numbers, and failures as the op says.
class Source : public Stage {
 public:
  explicit Source(Setup setup) : op_(setup.op), clock_(setup.clock) {}
  void begin_pass() override;
  std::optional<Item> next() override;

 private:
  Item failed_beginning();

  const Op& op_;
  Clock& clock_;
  std::uint32_t pass_ = 0;
  std::int64_t i_ = 0;
  bool begun_ = true;
};

// An op with one before it.
class Follower : public Stage {
 public:
  explicit Follower(Setup setup)
      : op_(setup.op),
        position_(setup.position),
        input_(std::move(setup.input)),
        clock_(setup.clock),
        tape_(setup.tape) {}
  void begin_pass() override {
    input_->begin_pass();
    reset();
  }

 protected:
  virtual void reset() {}
  // The next item of what comes before.
  std::optional<Item> read() {
    auto item = input_->next();
    if (item) ++inputs_;
    return item;
  }
  // An error of this op on the item that was read last, in words that the model does not know, or in those of a user's
  // function.
  Item refused(Item item) const {
    item.failed_op = position_;
    item.input = inputs_ - 1;
    item.cause.clear();
    return item;
  }
  Item failed(const Item& item) const {
    Item error = refused(item);
    error.cause = fails_on(op_, item.value);
    return error;
  }

  const Op& op_;
  const int position_;
  const Input input_;
  Clock& clock_;
  const Tape* const tape_;
  std::int64_t inputs_ = 0;
};

// What one element becomes, whatever its neighbours are: nothing, one or several, or an error.
class Elementwise : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override;

 private:
  virtual std::vector<Value> results(const Item& item) const = 0;
  // Whether it is an error in words of the library's own, or a lost answer.
  virtual bool refuses(const Value&) const { return false; }
  void reset() override;
  void answer(const Item& item);

  std::deque<Item> waiting_;
  int passes_ = 0;
};

// Elements that become one, in a steady number; the rest at the end of a pass. An error goes on at once; what has been
// collected stays.
// With drop_remainder, of elements that do not fit it is told when as many have come as are put together, and what
// comes behind such an error waits for it; at the end they are the remainder, and errors from before go on alone.
class Collect : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override;

 protected:
  std::int64_t given() const { return given_; }  // in this pass

 private:
  struct Error {
    Item item;
    bool is_misfit;
  };

  virtual Value together(std::vector<Value> rows) const = 0;
  virtual bool fits(const std::vector<Value>&, const Value&) const { return true; }
  virtual bool has_enough() const { return false; }              // this pass
  virtual bool bears_stamps_of_errors() const { return false; }  // what comes behind an error
  void reset() override;
  bool may_be_remainder() const;
  bool collect();
  std::optional<Item> next_error();
  std::optional<Item> all_together();

  std::vector<Value> rows_;
  std::vector<Error> errors_;  // not yet told
  Item last_;
  std::int64_t misfits_ = 0;  // since the last result
  std::int64_t given_ = 0;
  bool ended_ = false;
};

Input stage_for(Setup setup);

}  // namespace model
