// The cursor of an op with several inputs: pulls from the one that it wants, and no more than it wants.
#include <utility>
#include <vector>

#include "lib/exec/cursors.h"
#include "lib/exec/emitting_cursor.h"
#include "lib/exec/merge_asks.h"
#include "lib/exec/opened.h"

namespace penstock::exec {
namespace {

constexpr int kMostIdleSteps = 16;  // steps without a slot: then others look whether more is wanted

class MergeCursor final : public EmittingCursor {
 public:
  MergeCursor(const CursorOp& op, std::vector<std::unique_ptr<Cursor>> inputs)
      : EmittingCursor(op),
        state_(opened(op.node->as<MergeOp>()->open(inputs.size()))),
        input_runs_(*state_),
        input_stamps_(static_cast<std::uint64_t>(op.number)),
        inputs_(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs_[i].cursor = std::move(inputs[i]);
  }

  void begin_pass(const PassKey& pass, CursorCall& call) override {
    call_ = &call;
    pass_ = pass;
    pulled_.clear();
    has_ended_ = false;
    ends_told_.begin_anew();
    if (!input_runs_.are_asked_for()) begin_inputs(pass);
    if (!guarded(pass.stamp(), [this] { state_->begin_pass(pass_.stamp()); })) has_ended_ = true;
    call_ = nullptr;
  }

  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    call_ = &call;
    const std::size_t end = out.size() + most;
    bool moves = true;
    for (int idle = 0; moves && out.size() < end && idle < kMostIdleSteps; ++idle) {
      if (pulled_.empty()) moves = !has_ended_ && step();
      if (!pulled_.empty()) idle = 0;
      pulled_.give(out, end - out.size());
    }
    call_ = nullptr;
    return !has_ended_ || !pulled_.empty();
  }
  std::int64_t held_bytes() const noexcept override {
    std::int64_t bytes = held_.bytes() + pulled_.bytes();
    for (const Input& input : inputs_) bytes += input.cursor->held_bytes();
    return bytes;
  }

 private:
  struct Input {
    std::unique_ptr<Cursor> cursor;
    Slots next;  // its next slot, or none
    bool has_more = true;
  };

  void begin_inputs(const PassKey& pass) {
    for (Input& input : inputs_) {
      input.next.clear();
      input.has_more = true;
      input.cursor->begin_pass(pass, *call_);
    }
  }
  // False: an input has been asked and had nothing yet, or the pass has ended.
  bool step() {
    const bool moves = does(want());
    held_.ask(*state_, [this] { add_failure(pass_.stamp()); });
    return moves;
  }
  bool does(const Want& wanted) {
    switch (wanted.kind) {
      case Want::Kind::one: return take_one(wanted.input);
      case Want::Kind::all: return take_all();
      case Want::Kind::own: return take_own();
      case Want::Kind::nothing: break;
    }
    return end();
  }
  bool end() {
    has_ended_ = true;
    return false;
  }
  // What the state wants. One that fails to say so, or that asks for an input which is none, gets no more of this pass.
  Want want() {
    Want wanted;
    const bool is_told = guarded(pass_.stamp(), [&] { wanted = wanted_by(*state_, inputs_.size()); });
    if (input_runs_.is_one_due()) begin_inputs({});
    return is_told ? wanted : Want::nothing();
  }
  bool has_next(Input& input) {
    if (input.next.empty() && input.has_more) input.has_more = input.cursor->pull(input.next, 1, *call_);
    return !input.next.empty();
  }
  bool take_one(std::size_t i) {
    Input& input = inputs_[i];
    const bool is_there = has_next(input);
    if (input_runs_.are_asked_for() && call_->stop_token().stop_requested())
      return end();  // who is told to stop may give anything
    if (is_there) {
      take(i);
    } else if (input.has_more) {
      return false;
    } else {
      tell_of_end(i);
    }
    return true;
  }
  bool take_all() {
    bool all = true;
    for (Input& input : inputs_) {
      if (has_next(input)) continue;
      if (!input.has_more) return end();
      all = false;
    }
    for (std::size_t i = 0; all && i < inputs_.size(); ++i) take(i);
    return all;
  }
  bool take_own() {
    const bool has_given = guarded(pass_.stamp(), [this] {
      state_->give(*this);
      if (pulled_.empty() && !has_ended_) fail_empty_gift();
    });
    ends_told_.begin_anew();
    return has_given || end();
  }
  void take(std::size_t i) {
    Slot slot = std::move(inputs_[i].next.front());
    inputs_[i].next.clear();
    ends_told_.begin_anew();
    input_stamps_.apply(i, slot.stamp);
    call_->measure(slot, op_, slot.stamp.ordinal);
    const Stamp stamp = slot.stamp;
    guarded(stamp, [&] { state_->take(i, std::move(slot), *this); });
  }
  void tell_of_end(std::size_t i) {
    guarded(pass_.stamp(), [&] {
      ends_told_.tell(*state_, i, inputs_.size(), *this);
      if (!pulled_.empty()) ends_told_.begin_anew();
    });
    if (ends_told_.goes_in_circles(inputs_.size())) end();
  }

  void emit(Element value, const Stamp& stamp) override { forward(Slot(std::move(value), stamp)); }
  void forward(Slot&& slot) override {
    const std::int64_t ordinal = slot.stamp.ordinal;
    add(std::move(slot), ordinal);
  }
  void end_pass() override { has_ended_ = true; }

  const std::unique_ptr<MergeState> state_;
  InputRuns input_runs_;
  const InputStamps input_stamps_;
  std::vector<Input> inputs_;
  bool has_ended_ = false;
  EndsTold ends_told_;
};

}  // namespace

std::unique_ptr<Cursor> merge_cursor(const CursorOp& op, std::vector<std::unique_ptr<Cursor>> inputs) {
  return std::make_unique<MergeCursor>(op, std::move(inputs));
}

}  // namespace penstock::exec
