#include "tests/model/stages.h"

#include "tests/ops/all_cases.h"

namespace model {

std::string fails_on(const Op& op, const Value& value) {
  return op.any_text ? "" : "fails on " + std::to_string(key(value));
}

// ------------------------------------------------------------------------------------------------
// Source

void Source::begin_pass() {
  pass_ = clock_.pass();
  i_ = 0;
  begun_ = !op_.fails_passes.holds(number(clock_.epoch + pass_));
}

std::optional<Item> Source::next() {
  if (!begun_) return failed_beginning();
  if (i_ >= op_.count) return std::nullopt;
  if (clock_.work_left-- <= 0) throw TooMuchWork("the pipeline reads too much");
  Item item{.value = source_value(op_, i_), .origin = {clock_.epoch, pass_, i_}};
  item.input = i_++;
  if (op_.stamped) item.value = affine(item.value, 1, stamp_number(item.origin));
  if (op_.fails.holds(item.value)) item.cause = fails_on(op_, item.value), item.failed_op = 0;
  return item;
}

// All that such a pass has. It is no element's.
Item Source::failed_beginning() {
  begun_ = true;
  i_ = op_.count;
  Item item{.origin = {clock_.epoch, pass_, -1}, .failed_op = 0};
  item.input = -1;
  return item;
}

// ------------------------------------------------------------------------------------------------
// Elementwise

std::optional<Item> Elementwise::next() {
  while (waiting_.empty()) {
    const auto item = read();
    if (!item) return std::nullopt;
    answer(*item);
  }
  Item item = std::move(waiting_.front());
  waiting_.pop_front();
  if (op_.arbitrary) item.group = passes_;
  return item;
}

void Elementwise::reset() {
  waiting_.clear();
  ++passes_;
}

void Elementwise::answer(const Item& item) {
  if (item.failed()) {
    waiting_.push_back(item);
  } else if (op_.fails.holds(item.value)) {
    waiting_.push_back(failed(item));
  } else if (refuses(item.value)) {
    waiting_.push_back(refused(item));
  } else {
    for (Value& value : results(item)) {
      waiting_.push_back(item);
      waiting_.back().value = std::move(value);
    }
  }
}

// ------------------------------------------------------------------------------------------------
// Collect

std::optional<Item> Collect::next() {
  while (!has_enough()) {
    if (auto error = next_error()) return error;
    if (static_cast<std::int64_t>(rows_.size()) == op_.count) return all_together();
    if (!ended_ && collect()) continue;
    if (!errors_.empty()) continue;
    return op_.drop_remainder ? std::nullopt : all_together();
  }
  return std::nullopt;
}

void Collect::reset() {
  rows_.clear();
  errors_.clear();
  misfits_ = given_ = 0;
  ended_ = false;
}

bool Collect::may_be_remainder() const {
  return op_.drop_remainder && static_cast<std::int64_t>(rows_.size()) + misfits_ < op_.count;
}

// False: the input has ended.
bool Collect::collect() {
  auto item = read();
  ended_ = !item.has_value();
  if (ended_) {
    if (may_be_remainder()) std::erase_if(errors_, [](const Error& error) { return error.is_misfit; });
    return false;
  }
  if (bears_stamps_of_errors()) last_.origin = item->origin;
  const bool failed_before = item->failed();
  if (failed_before || !fits(rows_, item->value)) {
    misfits_ += !failed_before;
    errors_.push_back({failed_before ? *item : refused(*item), !failed_before});
  } else {
    last_ = *item;
    rows_.push_back(std::move(item->value));
  }
  return true;
}

std::optional<Item> Collect::next_error() {
  if (errors_.empty() || (errors_.front().is_misfit && may_be_remainder())) return std::nullopt;
  Item item = std::move(errors_.front().item);
  errors_.erase(errors_.begin());
  return item;
}

std::optional<Item> Collect::all_together() {
  if (rows_.empty()) return std::nullopt;
  Item item = last_;
  item.value = together(std::exchange(rows_, {}));
  misfits_ = 0;
  ++given_;
  return item;
}

Input stage_for(Setup setup) {
  return op_cases::with_case(setup.op.kind, [&]<class Case>(Case) -> Input {
    return std::make_unique<typename Case::Meaning>(std::move(setup));
  });
}

}  // namespace model
