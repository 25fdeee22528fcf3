// MergeBody: feeds a MergeState with what has come to its inputs (PortQueues), and keeps the books of its passes.
//
// When the merge's pass ends, its mark goes on at once. It waits for no input: a call that nobody wants may take long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/body.h"
#include "lib/exec/merge_asks.h"
#include "lib/exec/merge_saves.h"
#include "lib/exec/port_queues.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct MergeInputs {
  std::vector<PortPlan> ports;
  std::uint64_t random_key = 0;  // of the stage
};

class MergeBody final : public Body, private Emitter {
 public:
  // `stage`: its number, by which the host knows its inputs.
  MergeBody(std::unique_ptr<MergeState> state, std::size_t stage, const MergeInputs& inputs, BodyHost& host,
            PassControl& passes);

  void run(Group& group, Context& context) override;
  bool can_produce() const override;
  void use_signs(MergeSigns& signs) override { ports_.news().use_signs(signs); }
  void arrive(std::size_t port, Slots&& slots) override { ports_.arrive(port, std::move(slots)); }
  std::int64_t take_arrivals() override;
  std::span<const std::size_t> changed_inputs() override { return ports_.news().changes(); }
  bool let_go(Slots& to, bool is_running) noexcept override { return ports_.let_go(to, is_running); }
  std::int64_t held_bytes() const override { return ports_.held_bytes() + held_.bytes(); }
  std::int64_t failed_input(const Group& group, std::size_t result) const override {
    return group.slots[result].stamp.ordinal;  // the place of what it gives is its own
  }
  Resumes* resumes() noexcept override { return &saves_; }

 private:
  enum class Step : std::uint8_t { went_on, lacks_input, pass_has_ended };

  void emit(Element value, const Stamp& stamp) override { out_->emplace_back(std::move(value), stamp); }
  void forward(Slot&& slot) override { out_->push_back(std::move(slot)); }
  void end_pass() override { wants_nothing_ = true; }
  void drop_error(Slot&&) override { host_.count_dropped(stage_, 1); }

  void ask_held_bytes();
  Step enter_pass();
  Step step();
  Step take_one(std::size_t port);
  void tell_of_end(std::size_t port);
  Step take_all();
  Step take_own();
  void take(std::size_t port);
  Want want();

  // False: it has failed, and that failure is a result, with what `stamp` gives: a stamp that is copied for each
  // element costs more than the rest of the call.
  template <class StampOf, class Call> bool guarded(const StampOf& stamp, Call&& call);

  const std::unique_ptr<MergeState> state_;
  InputRuns input_runs_;
  const std::size_t stage_;
  const InputStamps input_stamps_;
  BodyHost& host_;
  PassControl& passes_;
  PortQueues ports_;
  Slots* out_ = nullptr;        // results of the group being run
  Stamp pass_;                  // of what it gives next
  bool wants_nothing_ = false;  // more of that pass
  EndsTold ends_told_;
  bool lacks_input_ = false;  // since the last run nothing has come
  std::uint64_t seen_ = 0;    // PassControl::changes() as of the last run
  HeldBytes held_;            // by the state
  bool has_called_ = false;   // the state, since it was asked for that
  MergeSaves saves_;
};

}  // namespace penstock::exec
