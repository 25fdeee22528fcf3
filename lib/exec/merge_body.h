// MergeBody: feeds a MergeState, and keeps the books of its passes and of those of its inputs.
//
// The merge is in one pass, and each input is somewhere: in that pass, behind its end (then it waits), or still in an
// earlier one: then all that it brings is left out, and its branch is asked to end that pass. It is asked again with
// each mark by which it is still behind, since the first request may have come too early: a pass that has not begun
// cannot be ended. Who is where is known by odometers that turn with each mark (odometer.h).
//
// When the merge's pass ends, its mark goes on at once. It waits for no input: a call that nobody wants may take long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/body.h"
#include "lib/exec/odometer.h"
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
  void use_signs(std::vector<PortSigns>& signs) override { signs_ = &signs; }
  void arrive(std::size_t port, Slots&& slots) override;
  std::int64_t take_arrivals() override;
  std::int64_t held_bytes() const override { return held_bytes_; }
  std::int64_t failed_input(const Group& group, std::size_t result) const override {
    return group.slots[result].stamp.ordinal;  // the place of what it gives is its own
  }

 private:
  enum class Step : std::uint8_t { went_on, lacks_input, pass_has_ended };

  struct Port {
    Port(std::size_t repeats_in_branch, std::size_t digits) : depth(repeats_in_branch), at(digits) {}

    std::size_t depth;
    Queue<Slots> arrived;        // since the last run; with the stage's lock held
    Queue<Slots> queue;          // not used up
    std::size_t taken = 0;       // slots already taken from queue.front()
    Odometer at;                 // the pass of what comes next
    std::uint64_t sequence = 0;  // of that pass, in its branch
  };

  void emit(Element value, const Stamp& stamp) override { out_->emplace_back(std::move(value), stamp); }
  void forward(Slot&& slot) override { out_->push_back(std::move(slot)); }
  void end_pass() override { wants_nothing_ = true; }
  void drop_error(Slot&&) override { host_.count_dropped(stage_, 1); }

  Step enter_pass();
  Step step();
  Step take_one(std::size_t port);
  void tell_of_end(std::size_t port);
  Step take_all();
  void take(std::size_t port);
  Want want();
  void close_pass();
  void publish(const Want& wanted);

  bool has_slot(std::size_t number);
  bool has_ended(std::size_t number) const { return ports_[number].at > at_; }  // behind has_slot()
  Slot pop(Port& port, std::size_t number);
  void let_go_of_earlier_passes();
  void pass_mark(std::size_t number, const Slot& mark);
  void ask_to_catch_up(std::size_t number);

  // False: it has failed, and that failure is a result.
  template <class Call> bool guarded(const Stamp& stamp, Call&& call);

  const std::unique_ptr<MergeState> state_;
  const std::size_t stage_;
  const std::uint64_t random_key_;
  BodyHost& host_;
  PassControl& passes_;
  std::deque<Port> ports_;
  std::vector<PortSigns>* signs_ = nullptr;
  Slots* out_ = nullptr;         // results of the group being run
  Odometer at_;                  // the pass of what it gives next
  Stamp pass_;                   // the same
  bool wants_nothing_ = false;   // more of that pass
  std::size_t ends_told_ = 0;    // in a row, without any result
  bool lacks_input_ = false;     // since the last run nothing has come
  std::uint64_t seen_ = 0;       // PassControl::changes() as of the last run
  std::int64_t held_bytes_ = 0;  // of what is in the queues
};

}  // namespace penstock::exec
