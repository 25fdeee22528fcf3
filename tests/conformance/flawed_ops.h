// Ops that forget one obligation each, for the tests of the suite. Without a flaw they pass.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/own_ops.h"

namespace conformance {

enum class Flaw : std::uint8_t {
  none,
  // of a stream op
  keeps_its_state,  // from one pass to the next
  swallows_errors,
  loses_a_neighbour,  // of an error
  delays_errors,      // until its next result
  says_it_is_as_new,  // is_as_new_after_output(), though it has counted
  holds_undeclared,   // elements_held() is 1
  forgets_its_bytes,  // held_bytes() is 0
  forgets_parameters,
  forgets_its_name,
  miscounts,           // flow() says as many as come in
  waits_for_one_more,  // before it gives what is complete
  leaks,
  miscalculates,
  forgets_the_rest,  // at the end of a pass
  // of an elementwise op
  denies_fanning_out,
  denies_growing,  // passes_memory_on()
  fails_the_whole_call,
  counts_calls,          // its results depend on how often it was called
  foretells_too_little,  // bytes_hint()
  declares_too_many,     // outputs().declare()
};

// Where a leaking op puts tokens.
template <class T> using Cellar = std::shared_ptr<std::vector<T>>;

// A user's op: sums of op.count tokens, the rest at the end of a pass; ends the pass after op.index
// sums.
template <class T> class OwnStream final : public ps::StreamOp {
 public:
  OwnStream(model::Op op, Feed feed, Flaw flaw = Flaw::none, Cellar<T> cellar = nullptr)
      : made_{std::move(op), std::move(feed), flaw, std::move(cellar)} {}
  std::string name() const override { return has(Flaw::forgets_its_name) ? "" : "own_stream"; }
  std::string parameters() const override {
    if (has(Flaw::forgets_parameters)) return "";
    return "count=" + std::to_string(made_.op.count) + ", sums=" + std::to_string(made_.op.index);
  }
  ps::Flow flow(const ps::Flow& input) const override { return has(Flaw::miscounts) ? input : ps::Flow{}; }
  std::int64_t elements_held() const override { return has(Flaw::holds_undeclared) ? 1 : made_.op.count; }
  std::int64_t bytes_of_place() const override { return sizeof(ps::Slot); }
  bool is_as_new_after_output() const override { return has(Flaw::says_it_is_as_new); }
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override { return std::make_unique<State>(made_); }

 private:
  struct Made {
    model::Op op;
    Feed feed;
    Flaw flaw;
    Cellar<T> cellar;
  };
  bool has(Flaw flaw) const { return made_.flaw == flaw; }

  class State final : public ps::StreamState {
   public:
    explicit State(Made made) : made_(std::move(made)) {}
    void begin_pass(ps::Emitter&) override {
      if (!has(Flaw::keeps_its_state)) given_ = 0;
      clear();
    }
    void element(ps::Slot&& slot, ps::Emitter& out) override {
      if (has_enough()) return;
      if (has(Flaw::waits_for_one_more) && is_complete()) give(out);
      last_ = slot.stamp;
      held_.push_back(slot.template take<T>());
      bytes_ += slot.bytes();
      if (is_complete() && !has(Flaw::waits_for_one_more)) give(out);
    }
    void error(ps::Slot&& slot, ps::Emitter& out) override {
      if (has(Flaw::swallows_errors) || has_enough()) return;
      if (has(Flaw::loses_a_neighbour) && !held_.empty()) held_.pop_back();
      if (has(Flaw::delays_errors)) return delayed_.push_back(std::move(slot));
      out.forward(std::move(slot));
    }
    void pass_end(ps::Emitter& out) override {
      if (!held_.empty() && !has(Flaw::forgets_the_rest)) give(out);
      forward_delayed(out);
      clear();
    }
    std::int64_t held_bytes() const override { return has(Flaw::forgets_its_bytes) ? 0 : bytes_; }

   private:
    bool has(Flaw flaw) const { return made_.flaw == flaw; }
    bool has_enough() const { return made_.op.index > 0 && given_ >= made_.op.index; }
    bool is_complete() const { return std::ssize(held_) == made_.op.count; }
    void forward_delayed(ps::Emitter& out) {
      for (ps::Slot& slot : std::exchange(delayed_, {})) out.forward(std::move(slot));
    }
    void give(ps::Emitter& out) {
      std::vector<model::Value> values;
      for (const T& token : held_) values.push_back(model::number(token.number()));
      if (has(Flaw::leaks)) made_.cellar->push_back(std::move(held_.back()));
      clear();
      const std::int64_t sum = model::sum_of(values).number + (has(Flaw::miscalculates) ? 1 : 0);
      out.emit(ps::Element(T(sum, made_.feed.census)), last_);
      forward_delayed(out);
      if (++given_ == made_.op.index) out.end_pass();
    }
    void clear() {
      held_.clear();
      bytes_ = 0;
    }

    const Made made_;
    std::vector<T> held_;
    std::vector<ps::Slot> delayed_;
    std::int64_t bytes_ = 0;
    std::int64_t given_ = 0;
    ps::Stamp last_;
  };

  const Made made_;
};

// What model::own_answer says.
template <class T> class FlawedElementwise final : public ps::ElementwiseOp {
 public:
  FlawedElementwise(model::Op op, Feed feed, Flaw flaw) : op_(std::move(op)), feed_(std::move(feed)), flaw_(flaw) {}
  std::string name() const override { return "own_elementwise"; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }
  bool may_fan_out() const override { return flaw_ != Flaw::denies_fanning_out; }
  bool passes_memory_on() const override { return flaw_ == Flaw::denies_growing; }
  std::optional<std::size_t> bytes_hint(const ps::Element&) const override {
    return flaw_ == Flaw::foretells_too_little ? std::optional(kTokenBytes) : std::nullopt;
  }

  void run(std::span<ps::Slot> slots, ps::Context& context) const override {
    for (ps::Slot& slot : slots) {
      context.enter(slot);
      const std::int64_t number = slot.value.get<T>().number();
      try {
        fail_if(op_.fails, number);
        auto elements = elements_of<T>(answer(number), feed_.census);
        context.outputs().declare(elements.size() + (flaw_ == Flaw::declares_too_many ? 1 : 0));
        slot.emit_many(std::move(elements));
      } catch (...) {
        if (flaw_ == Flaw::fails_the_whole_call) throw;
        slot.fail(std::current_exception());
      }
    }
  }

 private:
  std::vector<model::Value> answer(std::int64_t number) const {
    const bool counts = flaw_ == Flaw::counts_calls;
    return model::own_answer(model::number(counts ? calls_++ : number));
  }

  const model::Op op_;
  const Feed feed_;
  const Flaw flaw_;
  mutable std::atomic<std::int64_t> calls_{0};
};

}  // namespace conformance
