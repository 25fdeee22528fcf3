// The cursor of an element-wise op: calls it on what it pulls, each stretch of elements by one call.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>

#include "lib/core/byte_count.h"
#include "lib/exec/cursors.h"
#include "lib/exec/elementwise_passes.h"

namespace penstock::exec {
namespace {

// Where the answer of an op that completes later is waited for. The op may answer when nobody waits any more.
class Answer final : public Completion::Target {
 public:
  void finish(Slot::Kind kind, Element value) noexcept override {
    const std::lock_guard lock(mutex_);
    if (kind_ != Slot::Kind::dropped) return;
    kind_ = kind;
    value_ = std::move(value);
    answered_.notify_all();
  }
  // Until stop is asked for: then the slot is left out.
  void wait(Slot& slot, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, stop, [this] { return kind_ != Slot::Kind::dropped; });
    slot.value = std::move(value_);
    slot.set_kind(kind_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any answered_;
  Slot::Kind kind_ = Slot::Kind::dropped;  // none yet
  Element value_;
};

bool stays(const Slot& slot) { return slot.kind() != Slot::Kind::many && slot.kind() != Slot::Kind::dropped; }

class ElementwiseCursor final : public Cursor {
 public:
  ElementwiseCursor(const CursorOp& op, std::unique_ptr<Cursor> input)
      : op_(op), does_(*op.node->as<ElementwiseOp>()), passes_(does_), input_(std::move(input)) {}

  void begin_pass(const PassKey& pass, CursorCall& call) override {
    passes_.end_pass();
    answers_.clear();
    placed_ = child_ = 0;
    inputs_ = 0;
    has_more_ = true;
    input_->begin_pass(pass, call);
  }

  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    if (placed_ == answers_.size() && has_more_) {
      const std::size_t first = out.size();
      const std::int64_t first_input = inputs_;
      has_more_ = input_->pull(out, most, call);
      inputs_ += static_cast<std::int64_t>(out.size() - first);
      const std::span<Slot> slots = std::span(out).subspan(first);
      run_all(slots, call);
      if (std::ranges::all_of(slots, stays)) {
        for (std::size_t i = 0; i < slots.size(); ++i)
          call.finish(slots[i], op_, first_input + static_cast<std::int64_t>(i));
        return has_more_;
      }
      set_aside(out, first, first_input);
    }
    place(out, most, call);
    return has_more_ || placed_ < answers_.size();
  }
  std::int64_t held_bytes() const noexcept override {
    return input_->held_bytes() + (placed_ < answers_.size() ? list_bytes_ : 0);
  }

 private:
  void run_all(std::span<Slot> slots, CursorCall& call) {
    Context context = call.context_of(op_);
    for (std::size_t done = 0; done < slots.size();) {
      std::size_t end = done;
      while (end < slots.size() && slots[end].is_element()) ++end;
      if (end > done) run(slots.subspan(done, end - done), context);
      done = end + 1;
    }
  }
  void run(std::span<Slot> stretch, Context& context) {
    try {
      if (does_.form() == Form::completes_later) return run_later(stretch, context);
      passes_.run(stretch, context);
    } catch (...) {
      for (Slot& slot : stretch) slot.fail(detail::current_failure());
    }
  }
  void run_later(std::span<Slot> stretch, Context& context) {
    for (Slot& slot : stretch) {
      const auto answer = std::make_shared<Answer>();
      context.enter(slot);
      try {
        does_.start(std::move(slot.value), context, Completion(answer));
        answer->wait(slot, context.stop_token());
      } catch (...) {
        slot.fail(detail::current_failure());
      }
    }
  }

  // Some were dropped, or have become many: results are placed one by one.
  void set_aside(Slots& out, std::size_t first, std::int64_t first_input) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    answers_.assign(std::make_move_iterator(begin), std::make_move_iterator(out.end()));
    out.erase(begin, out.end());
    first_answer_ = first_input;
    placed_ = child_ = 0;
    list_bytes_ = 0;
    for (const Slot& answer : answers_) list_bytes_ += answer.kind() == Slot::Kind::many ? bytes_of(answer) : 0;
  }
  // As far as the user's bytes_of tells: where it throws, each element will say so itself.
  static std::int64_t bytes_of(const Slot& answer) noexcept {
    try {
      return byte_count(answer.results().bytes());
    } catch (...) {
      return 0;
    }
  }
  void place(Slots& out, std::size_t most, CursorCall& call) {
    for (const std::size_t end = out.size() + most; placed_ < answers_.size() && out.size() < end;) {
      Slot& answer = answers_[placed_];
      const bool is_list = answer.kind() == Slot::Kind::many;
      if (!(is_list ? place_child(answer, out) : place_whole(answer, out))) continue;
      call.finish(out.back(), op_, first_answer_ + static_cast<std::int64_t>(at_));
      if (is_list) list_bytes_ = std::max<std::int64_t>(list_bytes_ - out.back().value_bytes(), 0);
    }
  }
  // True: a slot was added, for the answer number at_.
  bool place_whole(Slot& answer, Slots& out) {
    at_ = placed_++;
    if (answer.kind() == Slot::Kind::dropped) return false;
    out.push_back(std::move(answer));
    return true;
  }
  bool place_child(Slot& answer, Slots& out) {
    at_ = placed_;
    detail::Results& results = answer.results();
    const bool has_one = child_ < results.size();
    if (has_one) {
      Slot& slot = out.emplace_back(Element(), answer.stamp.child(child_));
      try {
        slot.value = results.take(child_++);
      } catch (...) {
        slot.fail(detail::current_failure());
      }
    }
    if (child_ < results.size()) return has_one;
    answer.value.reset();
    child_ = 0;
    ++placed_;
    return has_one;
  }

  const CursorOp op_;
  const ElementwiseOp& does_;
  ElementwisePasses passes_;
  const std::unique_ptr<Cursor> input_;
  Slots answers_;                  // of a call that did not make one result of each element
  std::int64_t list_bytes_ = 0;    // of its lists, without what has been placed
  std::int64_t first_answer_ = 0;  // which input it was of
  std::size_t placed_ = 0;         // answers, and of the next one
  std::size_t child_ = 0;          // so many results
  std::size_t at_ = 0;             // the answer that was placed last
  std::int64_t inputs_ = 0;        // of the pass
  bool has_more_ = true;
};

}  // namespace

std::unique_ptr<Cursor> elementwise_cursor(const CursorOp& op, std::unique_ptr<Cursor> input) {
  return std::make_unique<ElementwiseCursor>(op, std::move(input));
}

}  // namespace penstock::exec
