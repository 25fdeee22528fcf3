#include "tests/model/stages.h"

#include <deque>

namespace model {
namespace {

std::string fails_on(const Op& op, const Value& value) {
  return op.any_text ? "" : "fails on " + std::to_string(key(value));
}

class Source final : public Stage {
 public:
  Source(const Op& op, Clock& clock) : op_(op), clock_(clock) {}
  void begin_pass() override {
    pass_ = clock_.pass();
    i_ = 0;
    begun_ = !op_.fails_passes.holds(number(clock_.epoch + pass_));
  }
  std::optional<Item> next() override {
    if (!begun_) return failed_beginning();
    if (i_ >= op_.count) return std::nullopt;
    if (clock_.work_left-- <= 0) throw TooMuchWork("the pipeline reads too much");
    Item item{.value = source_value(op_, i_), .origin = {clock_.epoch, pass_, i_}};
    item.input = i_++;
    if (op_.stamped) item.value = affine(item.value, 1, stamp_number(item.origin));
    if (op_.fails.holds(item.value)) item.cause = fails_on(op_, item.value), item.failed_op = 0;
    return item;
  }

 private:
  // All that such a pass has. It is no element's.
  Item failed_beginning() {
    begun_ = true;
    i_ = op_.count;
    Item item{.origin = {clock_.epoch, pass_, -1}, .failed_op = 0};
    item.input = -1;
    return item;
  }

  const Op& op_;
  Clock& clock_;
  std::uint32_t pass_ = 0;
  std::int64_t i_ = 0;
  bool begun_ = true;
};

// What one element becomes, whatever its neighbours are: nothing, one or several, or an error.
class Elementwise final : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override {
    while (waiting_.empty()) {
      auto item = input_->next();
      if (!item) return std::nullopt;
      answer(*item, inputs_++);
    }
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    if (op_.arbitrary) item.group = passes_;
    return item;
  }

 private:
  void reset() override {
    waiting_.clear();
    ++passes_;
  }
  void answer(const Item& item, std::int64_t input) {
    if (item.failed()) {
      waiting_.push_back(item);
    } else if (op_.fails.holds(item.value)) {
      waiting_.push_back(failed(item, input, fails_on(op_, item.value)));
    } else if (op_.loses.holds(item.value) || (op_.kind == Kind::unbatch && !item.value.is_list)) {
      waiting_.push_back(failed(item, input, ""));
    } else {
      for (Value& value : results(item)) {
        waiting_.push_back(item);
        waiting_.back().value = std::move(value);
      }
    }
  }
  std::vector<Value> results(const Item& item) const {
    const Value& x = item.value;
    if (op_.kind == Kind::map)
      return {affine(x, op_.step, op_.first + (op_.stamped ? stamp_number(item.origin) : 0))};
    if (op_.kind == Kind::filter && !op_.keeps.holds(x)) return {};
    if (op_.kind == Kind::flat_map) return children(op_, x);
    if (op_.kind == Kind::unbatch) return x.rows;
    if (op_.kind == Kind::own_elementwise) return own_answer(x);
    if (op_.kind == Kind::own_async) return async_answer(x);
    return {x};
  }

  std::deque<Item> waiting_;
  std::int64_t inputs_ = 0;
  int passes_ = 0;
};

class IgnoreErrors final : public Follower {
 public:
  IgnoreErrors(const Op& op, int position, Clock& clock, Input input)
      : Follower(op, position, std::move(input)), clock_(clock) {}
  std::optional<Item> next() override {
    for (;; ++clock_.dropped) {
      auto item = input_->next();
      if (!item || !item->failed()) return item;
    }
  }

 private:
  Clock& clock_;
};

// Counts positions: an error has one.
class Shard final : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override {
    while (auto item = input_->next())
      if (counted_++ % op_.count == op_.index) return item;
    return std::nullopt;
  }

 private:
  void reset() override { counted_ = 0; }
  std::int64_t counted_ = 0;
};

// Counts elements, lets errors pass; behind the last element nothing more is asked for.
class Take final : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override {
    if (taken_ == op_.count) return std::nullopt;
    auto item = input_->next();
    if (item && !item->failed()) ++taken_;
    return item;
  }

 private:
  void reset() override { taken_ = 0; }
  std::int64_t taken_ = 0;
};

class Skip final : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override {
    while (auto item = input_->next()) {
      if (item->failed() || (op_.count >= 0 && skipped_ == op_.count)) return item;
      ++skipped_;
    }
    return std::nullopt;
  }

 private:
  void reset() override { skipped_ = 0; }
  std::int64_t skipped_ = 0;
};

class Repeat final : public Follower {
 public:
  Repeat(const Op& op, int position, Clock& clock, Input input)
      : Follower(op, position, std::move(input)), clock_(clock), level_(clock.rounds.size()) {
    if (op.count != 1) clock.rounds.push_back(0);
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

 private:
  void begin_round() {
    if (round_ == op_.count) return;
    if (op_.count != 1) clock_.rounds[level_] = round_;
    input_->begin_pass();
    empty_ = true;
  }

  Clock& clock_;
  const std::size_t level_;
  std::int64_t round_ = 0;
  bool empty_ = true;
};

// Together, as a batch or as a sum. An error goes on at once; what has been collected stays. With drop_remainder, of elements that do
// not fit it is told when as many have come as a batch has, and what comes behind such an error waits for it; at the end they are the
// remainder, and errors from before go on alone.
class Collect final : public Follower {
 public:
  using Follower::Follower;
  std::optional<Item> next() override {
    while (!has_enough()) {
      if (auto error = next_error()) return error;
      if (static_cast<std::int64_t>(rows_.size()) == op_.count) return together();
      if (!ended_ && read()) continue;
      if (!errors_.empty()) continue;
      return op_.drop_remainder ? std::nullopt : together();
    }
    return std::nullopt;
  }

 private:
  struct Error {
    Item item;
    bool is_misfit;
  };

  void reset() override {
    rows_.clear();
    errors_.clear();
    misfits_ = given_ = 0;
    ended_ = false;
  }
  bool has_enough() const {
    return op_.kind == Kind::own_stream && op_.index > 0 && given_ == op_.index;
  }
  bool fits(const Value& value) const {
    return op_.kind == Kind::own_stream || rows_.empty() || rows_.front().is_list == value.is_list;
  }
  bool may_be_remainder() const {
    return op_.drop_remainder && static_cast<std::int64_t>(rows_.size()) + misfits_ < op_.count;
  }
  // False: the input has ended.
  bool read() {
    auto item = input_->next();
    ended_ = !item.has_value();
    if (ended_) {
      if (may_be_remainder()) std::erase_if(errors_, [](const Error& error) { return error.is_misfit; });
      return false;
    }
    const std::int64_t input = inputs_++;
    if (op_.kind == Kind::batch) last_.origin = item->origin;  // also of an error: what comes later bears it
    const bool failed_before = item->failed();
    if (failed_before || !fits(item->value)) {
      misfits_ += !failed_before;
      errors_.push_back({failed_before ? *item : failed(*item, input, ""), !failed_before});
    } else {
      last_ = *item;
      rows_.push_back(std::move(item->value));
    }
    return true;
  }
  std::optional<Item> next_error() {
    if (errors_.empty() || (errors_.front().is_misfit && may_be_remainder())) return std::nullopt;
    Item item = std::move(errors_.front().item);
    errors_.erase(errors_.begin());
    return item;
  }
  std::optional<Item> together() {
    if (rows_.empty()) return std::nullopt;
    Value value = op_.kind == Kind::batch ? list(std::move(rows_)) : sum_of(rows_);
    rows_.clear();
    misfits_ = 0;
    ++given_;
    Item item = last_;
    item.value = std::move(value);
    return item;
  }

  std::vector<Value> rows_;
  std::vector<Error> errors_;  // not yet told
  Item last_;
  std::int64_t misfits_ = 0;   // since the last batch
  std::int64_t given_ = 0;
  std::int64_t inputs_ = 0;
  bool ended_ = false;
};

// Follows the tape, and reads of its input what is on it. An element may leave at most count - 1
// places early.
class Shuffle final : public Follower {
 public:
  Shuffle(const Op& op, int position, const Tape& tape, Input input)
      : Follower(op, position, std::move(input)), tape_(tape) {}
  std::optional<Item> next() override {
    if (pass_ == nullptr) {
      if (!read()) return std::nullopt;
      if (next_pass_ == tape_.size())
        throw IllegalOrder("the shuffle gave fewer passes than it was asked for");
      pass_ = &tape_[next_pass_++];
    }
    if (on_tape_ == pass_->items.size()) return at_end_of_tape();
    return find(pass_->items[on_tape_++]);
  }

 private:
  void reset() override {
    pool_.clear();
    read_ = given_ = on_tape_ = 0;
    pass_ = nullptr;
  }
  bool read() {
    auto item = input_->next();
    if (!item) return false;
    if (!item->failed()) ++read_;
    pool_.push_back(std::move(*item));
    return true;
  }
  std::optional<Item> at_end_of_tape() {
    if (!pass_->ended)
      throw IllegalOrder("the shuffle was not asked for as much as the ops behind it need");
    if (!pool_.empty() || read()) throw IllegalOrder("the shuffle has lost an element");
    return std::nullopt;
  }
  std::optional<Item> find(const Item& wanted) {
    std::size_t at = 0;
    while (!is_same(wanted, at)) ++at;
    if (op_.count > 0 && read_ > given_ + op_.count)
      throw IllegalOrder("an element left the shuffle too early");
    Item item = std::move(pool_[at]);
    pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(at));
    if (!item.failed()) ++given_;
    return item;
  }
  bool is_same(const Item& wanted, std::size_t at) {
    if (at == pool_.size() && !read())
      throw IllegalOrder("the shuffle gave an element that it did not have");
    const Item& item = pool_[at];
    if (wanted.failed() || item.failed()) return wanted.failed() && item.failed();
    return item.value == wanted.value && item.origin == wanted.origin;
  }

  const Tape& tape_;
  std::vector<Item> pool_;
  std::int64_t read_ = 0;  // elements, without errors
  std::int64_t given_ = 0;
  std::size_t on_tape_ = 0;
  const TapePass* pass_ = nullptr;
  std::size_t next_pass_ = 0;
};

}  // namespace

Input stage_for(const Op& op, int position, const Tape* tape, Input input, Clock& clock) {
  switch (op.kind) {
    case Kind::range:
    case Kind::from_vector:
    case Kind::from_generator:
    case Kind::from_file_list:
      return std::make_unique<Source>(op, clock);
    case Kind::shard:
      return std::make_unique<Shard>(op, position, std::move(input));
    case Kind::take:
      return std::make_unique<Take>(op, position, std::move(input));
    case Kind::skip:
      return std::make_unique<Skip>(op, position, std::move(input));
    case Kind::repeat:
      return std::make_unique<Repeat>(op, position, clock, std::move(input));
    case Kind::ignore_errors:
      return std::make_unique<IgnoreErrors>(op, position, clock, std::move(input));
    case Kind::batch:
    case Kind::own_stream:
      return std::make_unique<Collect>(op, position, std::move(input));
    case Kind::shuffle:
      if (tape != nullptr) return std::make_unique<Shuffle>(op, position, *tape, std::move(input));
      [[fallthrough]];
    default:
      return std::make_unique<Elementwise>(op, position, std::move(input));
  }
}

}  // namespace model
