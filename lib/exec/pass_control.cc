#include "lib/exec/pass_control.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/core/pass_number.h"
#include "lib/exec/pass_end.h"
#include "lib/exec/save_point.h"

namespace penstock::exec {

Slot PassControl::Mark::slot() const {
  Slot mark(Element(), stamp);
  mark.set_kind(Slot::Kind::pass_end);
  mark.set_level(level);
  return mark;
}

PassControl::PassControl(std::vector<std::int64_t> counts, std::uint32_t first_epoch, std::uint32_t epochs,
                         std::uint64_t first_sequence)
    : counts_(std::move(counts)),
      digits_(counts_.size(), 0),
      closed_(counts_.size() + 1, static_cast<std::int64_t>(first_sequence & kSequences) - 1),
      forgotten_(closed_),
      epochs_left_(epochs) {
  now_.epoch = first_epoch;
  now_.sequence = first_sequence & kSequences;
}

bool PassControl::current(Pass& pass) {
  MutexLock lock(mutex_);
  pass.over = !owed_.empty();
  if (pass.over) return true;
  if (epochs_left_ == 0) return false;
  pass.stamp = now_;
  pass.fresh = std::exchange(fresh_, false);
  return true;
}

bool PassControl::idle() const {
  MutexLock lock(mutex_);
  return epochs_left_ == 0 && owed_.empty();
}

bool PassControl::cut_requested() const {
  MutexLock lock(mutex_);
  return cut_ || !owed_.empty();
}

bool PassControl::is_unwanted(std::size_t depth, std::uint64_t sequence) const {
  MutexLock lock(mutex_);
  return closed_[depth] >= static_cast<std::int64_t>(sequence) || (cut_ && cut_depth_ >= depth);
}

// Turns the odometer on from digit `from`; the digits below it start again. Gives the number of repeats that ended.
std::uint8_t PassControl::advance(std::size_t from) {
  std::fill_n(digits_.begin(), from, 0);
  std::size_t level = from;
  for (; level < counts_.size(); ++level) {
    ++digits_[level];
    if (counts_[level] < 0 || digits_[level] < counts_[level]) break;
    digits_[level] = 0;
  }
  return static_cast<std::uint8_t>(level);
}

Slot PassControl::close() {
  MutexLock lock(mutex_);
  if (owed_.empty()) owed_.push_back(close_pass(cut_ ? cut_depth_ : 0));
  const Mark mark = owed_.front();
  owed_.pop_front();
  return mark.slot();
}

PassControl::Mark PassControl::close_pass(std::size_t from) {
  Mark mark{now_, advance(from)};
  std::fill_n(closed_.begin(), mark.level + 1u, static_cast<std::int64_t>(now_.sequence));
  now_.pass = base_ + pass_number(digits_);
  ++now_.sequence;
  cut_ = false;
  fresh_ = true;
  if (mark.level == counts_.size()) end_epoch();
  mark.stamp.sub = round_;
  marks_.push_back(mark);
  return mark;
}

// The round behind the last epoch asked for is that of the next request, be that made or not.
void PassControl::end_epoch() {
  ++now_.epoch;
  ++round_;
  if (--epochs_left_ > 0) return;
  round_ = round_of_request(asked_ + 1 - static_cast<std::uint32_t>(requests_.size()));
  if (!requests_.empty()) begin_request();
}

void PassControl::begin_request() {
  now_.epoch = requests_.front().epoch;
  epochs_left_ = requests_.front().epochs;
  requests_.pop_front();
  fresh_ = true;
}

// The stop source of the pass that ends. The caller requests the stop without the lock, for that runs users' code. From
// here on the next pass has another one, which a late request does not reach.
std::stop_source PassControl::take_stop() { return stopped_ ? stop_ : std::exchange(stop_, std::stop_source()); }

void PassControl::end(std::size_t depth, std::uint64_t sequence) {
  std::stop_source gone(std::nostopstate);
  {
    MutexLock lock(mutex_);
    if (closed_[depth] >= static_cast<std::int64_t>(sequence)) return;
    cut_depth_ = cut_ ? std::max(cut_depth_, depth) : depth;
    cut_ = true;
    ++changes_;
    if (epochs_left_ > 0 && !fresh_) gone = take_stop();
  }
  gone.request_stop();
}

std::optional<Slot> PassControl::close_early(std::size_t depth, std::uint64_t sequence) {
  std::stop_source gone(std::nostopstate);
  Mark mark;
  {
    MutexLock lock(mutex_);
    if (forgotten_[depth] >= static_cast<std::int64_t>(sequence)) return std::nullopt;
    if (closed_[depth] >= static_cast<std::int64_t>(sequence)) {
      const auto ends_it = [&](const Mark& made) { return made.level >= depth && made.stamp.sequence >= sequence; };
      return std::ranges::find_if(marks_, ends_it)->slot();
    }
    mark = close_pass(cut_ ? std::max(cut_depth_, depth) : depth);
    owed_.push_back(mark);
    ++changes_;
    gone = take_stop();
  }
  gone.request_stop();
  return mark.slot();
}

void PassControl::forget_until(std::uint64_t sequence) {
  MutexLock lock(mutex_);
  for (; !marks_.empty() && marks_.front().stamp.sequence <= sequence; marks_.pop_front()) {
    std::fill_n(forgotten_.begin(), marks_.front().level + 1u,
                static_cast<std::int64_t>(marks_.front().stamp.sequence));
  }
}

std::stop_token PassControl::stop_token() const {
  MutexLock lock(mutex_);
  return stop_.get_token();
}

void PassControl::stop() {
  std::stop_source gone(std::nostopstate);
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    gone = stop_;
  }
  gone.request_stop();
}

void PassControl::begin_epoch(std::uint32_t epoch, std::uint32_t epochs) {
  MutexLock lock(mutex_);
  requests_.push_back({epoch, std::max(epochs, 1u)});
  ++asked_;
  ++changes_;
  if (epochs_left_ == 0) begin_request();
}

std::uint64_t PassControl::halt() {
  std::stop_source gone(std::nostopstate);
  std::uint64_t last = 0;
  {
    MutexLock lock(mutex_);
    requests_.clear();
    if (epochs_left_ == 0) return now_.sequence - 1;
    cut_ = true;
    cut_depth_ = counts_.size();
    epochs_left_ = 1;
    ++changes_;
    last = now_.sequence;
    gone = take_stop();
  }
  gone.request_stop();
  return last;
}

void PassControl::wind_to(const std::vector<std::int64_t>& digits) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] >= 0 && digits[i] >= counts_[i]) fail_to_resume();
  }
  MutexLock lock(mutex_);
  digits_ = digits;
  now_.pass = base_ + pass_number(digits_);
}

std::vector<std::int64_t> PassControl::digits() const {
  MutexLock lock(mutex_);
  return digits_;
}

void PassControl::wind_to(std::uint32_t pass) {
  MutexLock lock(mutex_);
  if (pass == now_.pass) return;
  if (auto digits = digits_of_pass(pass - base_, counts_)) {
    digits_ = std::move(*digits);
    now_.pass = pass;
    return;
  }
  throw Error(ErrorCode::data_loss,
              "the checkpoint names pass " + std::to_string(pass) +
                  ", which this pipeline's epochs do not have. Start the epoch anew, or take an earlier checkpoint");
}

}  // namespace penstock::exec
