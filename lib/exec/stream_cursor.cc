// The cursor of a stream op, and that of repeat.
#include <utility>

#include "lib/exec/cursors.h"
#include "lib/exec/emitting_cursor.h"
#include "lib/exec/opened.h"

namespace penstock::exec {
namespace {

class StreamCursor final : public EmittingCursor {
 public:
  StreamCursor(const CursorOp& op, std::unique_ptr<Cursor> input)
      : EmittingCursor(op), state_(opened(op.node->as<StreamOp>()->open(0))), input_(std::move(input)) {}

  void begin_pass(const PassKey& pass, CursorCall& call) override {
    call_ = &call;
    if (stage_ != Stage::ended) close();
    pulled_.clear();
    stage_ = Stage::reads;
    input_number_ = 0;
    pass_ = pass;
    guarded(pass.stamp(), [this] { state_->begin_pass(*this); });
    wants_nothing_ ? close() : input_->begin_pass(pass, call);
    call_ = nullptr;
  }

  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    call_ = &call;
    if (pulled_.empty()) go_on(most);
    pulled_.give(out, most);
    call_ = nullptr;
    return stage_ != Stage::ended || !pulled_.empty();
  }
  std::int64_t held_bytes() const noexcept override { return held_.bytes() + pulled_.bytes() + input_->held_bytes(); }

 private:
  enum class Stage : std::uint8_t { reads, flushes, ended };

  // An op gives what it holds in parts, each of which is pulled before the next.
  void go_on(std::size_t most) {
    if (stage_ == Stage::reads) read(most);
    if (stage_ == Stage::flushes && pulled_.empty()) flush();
  }
  void read(std::size_t most) {
    const bool has_more = input_->pull(inputs_, most, *call_);
    for (Slot& slot : inputs_) {
      call_->measure(slot, op_, input_number_);
      take(std::move(slot));
      if (wants_nothing_) break;
      ++input_number_;
    }
    inputs_.clear();
    held_.ask(*state_, [this] { add_failure(pass_.stamp()); });
    if (wants_nothing_) return close();
    if (!has_more) stage_ = Stage::flushes;
  }
  void take(Slot&& slot) {
    const Stamp stamp = slot.stamp;
    guarded(stamp, [&] {
      slot.is_element() ? state_->element(std::move(slot), *this) : state_->error(std::move(slot), *this);
    });
  }
  void flush() {
    bool has_more = false;
    guarded(pass_.stamp(), [&] { has_more = state_->flush(*this); });
    if (!has_more) close();
  }
  void close() {
    wants_nothing_ = false;
    stage_ = Stage::ended;
    guarded(pass_.stamp(), [this] { state_->pass_end(*this); });
    held_.ask(*state_, [this] { add_failure(pass_.stamp()); });
  }

  void emit(Element value, const Stamp& stamp) override { add(Slot(std::move(value), stamp), input_number_); }
  void forward(Slot&& slot) override { add(std::move(slot), input_number_); }
  void forward_late(Slot&& slot, std::int64_t number) override { add(std::move(slot), number); }
  std::int64_t input_number() const override { return input_number_; }
  std::int64_t ordinal_of(const Stamp& stamp) const override { return stamp.ordinal < 0 ? -1 : input_number_; }
  void end_pass() override { wants_nothing_ = true; }

  const std::unique_ptr<StreamState> state_;
  const std::unique_ptr<Cursor> input_;
  Stage stage_ = Stage::ended;
  bool wants_nothing_ = false;  // more of the pass
  std::int64_t input_number_ = 0;
  Slots inputs_;
};

// A pass of an endless repeat that gives nothing ends it.
class RepeatCursor final : public Cursor {
 public:
  RepeatCursor(std::int64_t count, std::unique_ptr<Cursor> input) : count_(count), input_(std::move(input)) {}

  void begin_pass(const PassKey& pass, CursorCall& call) override {
    pass_ = pass;
    round_ = 0;
    begin_round(call);
  }
  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    if (count_ == 0) return false;
    const std::size_t before = out.size();
    const bool has_more = input_->pull(out, most, call);
    has_given_ = has_given_ || out.size() > before;
    if (has_more) return true;
    ++round_;
    if (count_ < 0 ? !has_given_ : round_ >= count_) return false;
    begin_round(call);
    return true;
  }
  std::int64_t held_bytes() const noexcept override { return input_->held_bytes(); }

 private:
  void begin_round(CursorCall& call) {
    has_given_ = false;
    if (count_ != 0) input_->begin_pass(pass_.within(round_), call);
  }

  const std::int64_t count_;  // -1: for ever
  const std::unique_ptr<Cursor> input_;
  PassKey pass_;
  std::int64_t round_ = 0;
  bool has_given_ = false;  // in this round
};

}  // namespace

std::unique_ptr<Cursor> stream_cursor(const CursorOp& op, std::unique_ptr<Cursor> input) {
  return std::make_unique<StreamCursor>(op, std::move(input));
}

std::unique_ptr<Cursor> repeat_cursor(std::int64_t count, std::unique_ptr<Cursor> input) {
  if (count == 1) return input;
  return std::make_unique<RepeatCursor>(count, std::move(input));
}

}  // namespace penstock::exec
