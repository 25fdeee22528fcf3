#include "lib/exec/merge_body.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include <penstock/error.h>

namespace penstock::exec {
namespace {

// A stamp that is made when it is asked for.
struct OfPass {
  const Stamp& pass;
  Stamp operator()() const noexcept { return of_no_element(pass); }
};

// A list that grows moves what it holds. Where there is no memory for all, those fail for which there is none.
void make_room(Slots& out, std::size_t slots) noexcept {
  try {
    out.reserve(slots);
  } catch (const std::bad_alloc&) {
  }
}

std::exception_ptr of_another_input() {
  return std::make_exception_ptr(Error(
      ErrorCode::data_loss,
      "what is before a cache is read again, and is not as it was when the first elements were given: it ends this "
      "time before their number, or fails where it did not. Resume with the input that the checkpoint was taken of, or "
      "start the epoch anew"));
}

}  // namespace

MergeBody::MergeBody(std::unique_ptr<MergeState> state, std::size_t stage, const MergeInputs& inputs, BodyHost& host,
                     PassControl& passes)
    : state_(std::move(state)),
      input_runs_(*state_, std::ranges::all_of(inputs.ports, &PortPlan::keeps_numbers)),
      stage_(stage),
      input_stamps_(inputs.random_key),
      host_(host),
      passes_(passes),
      ports_(stage, inputs.ports, input_runs_.are_asked_for() ? 0 : passes.depth(), host),
      saves_(*state_, ports_, passes, host, input_runs_) {}

// ------------------------------------------------------------------------------------------------ under the lock

bool MergeBody::can_produce() const { return !lacks_input_ || passes_.changes() != seen_ || ports_.has_arrivals(); }

std::int64_t MergeBody::take_arrivals() {
  ports_.news().begin_run();
  return ports_.take_arrivals();
}

// ------------------------------------------------------------------------------------------------ the run

void MergeBody::run(Group& group, Context&) {
  out_ = &group.slots;
  const auto most = static_cast<std::size_t>(group.inputs.admitted);
  seen_ = passes_.changes();
  Step did = enter_pass();
  const bool is_in_pass = did == Step::went_on;
  if (is_in_pass) {
    make_room(*out_, std::min(most, ports_.waiting()) + 2);  // with a save point, and the mark
    if (!wants_nothing_) saves_.begin_run(pass_, *out_);
  }
  const std::size_t end = most + out_->size() - (saves_.is_due_behind() && most > 1 ? 1 : 0);
  while (did == Step::went_on && out_->size() < end) did = step();
  if (input_runs_.have_missed()) host_.give_up(of_another_input());
  if (did != Step::pass_has_ended && !wants_nothing_) saves_.end_run(pass_, *out_);
  ask_held_bytes();  // not behind the mark
  if (did == Step::pass_has_ended) {
    out_->push_back(passes_.close());
    const Slot& mark = out_->back();
    saves_.end_pass();
    if (!input_runs_.are_asked_for()) ports_.go_on_to(mark.level(), PassControl::round_of(mark));
  }
  lacks_input_ = did == Step::lacks_input;
  if (!is_in_pass) ports_.let_go_of_earlier_passes();
  ports_.news().tell(is_in_pass && did != Step::pass_has_ended ? want() : Want::nothing(), *state_);
  out_ = nullptr;
}

// Outside of passes nothing was called that could have changed it, and an error would belong to none.
void MergeBody::ask_held_bytes() {
  if (!std::exchange(has_called_, false)) return;
  held_.ask(*state_, [this] { append_failure(*out_, of_no_element(pass_)); });
}

// Without any pass to be in, it waits as for an input.
MergeBody::Step MergeBody::enter_pass() {
  PassControl::Pass pass;
  if (!passes_.current(pass)) return Step::lacks_input;
  if (pass.over) return Step::pass_has_ended;
  has_called_ = true;
  if (pass.fresh) {
    pass_ = pass.stamp;
    wants_nothing_ = false;
    ports_.news().ask_of_all();
    ends_told_.begin_anew();
    wants_nothing_ = !guarded(OfPass{pass_}, [this] { state_->begin_pass(of_no_element(pass_)); });
    if (wants_nothing_ && saves_.is_resumed())  // it had begun before
      host_.give_up(out_->back().value.get<std::exception_ptr>());
    saves_.begin_pass();
  }
  return passes_.cut_requested() ? Step::pass_has_ended : Step::went_on;
}

MergeBody::Step MergeBody::step() {
  ports_.news().count_step();
  saves_.note_step();
  const Want wanted = want();
  switch (wanted.kind) {
    case Want::Kind::one: return take_one(wanted.input);
    case Want::Kind::all: return take_all();
    case Want::Kind::own: return take_own();
    case Want::Kind::nothing: break;
  }
  return Step::pass_has_ended;
}

MergeBody::Step MergeBody::take_one(std::size_t port) {
  if (ports_.has_slot(port)) {
    take(port);
  } else if (ports_.has_ended(port)) {
    tell_of_end(port);
  } else {
    return Step::lacks_input;
  }
  return Step::went_on;
}

void MergeBody::tell_of_end(std::size_t port) {
  const std::size_t results = out_->size();
  ports_.news().ask_of_all();
  guarded(OfPass{pass_}, [&] {
    ends_told_.tell(*state_, port, ports_.size(), *this);
    if (out_->size() > results) ends_told_.begin_anew();
  });
  wants_nothing_ = wants_nothing_ || ends_told_.goes_in_circles(ports_.size());
}

MergeBody::Step MergeBody::take_all() {
  bool is_complete = true;
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    if (ports_.has_slot(port)) continue;
    if (ports_.has_ended(port)) return Step::pass_has_ended;
    is_complete = false;
  }
  if (!is_complete) return Step::lacks_input;
  for (std::size_t port = 0; port < ports_.size(); ++port) take(port);
  return Step::went_on;
}

MergeBody::Step MergeBody::take_own() {
  const std::size_t results = out_->size();
  const bool has_given = guarded(OfPass{pass_}, [&] {
    state_->give(*this);
    if (out_->size() == results && !wants_nothing_) fail_empty_gift();
  });
  ends_told_.begin_anew();
  wants_nothing_ = wants_nothing_ || !has_given;
  return Step::went_on;
}

void MergeBody::take(std::size_t port) {
  Slot slot = ports_.pop(port);
  ends_told_.begin_anew();
  // A stamp that is written in part is slow to copy (SourceBody::produce_chosen); most are right already.
  if (slot.stamp.sequence != pass_.sequence) slot.stamp.sequence = pass_.sequence;
  input_stamps_.apply(port, slot.stamp);
  guarded([&] { return slot.stamp; }, [&] { state_->take(port, std::move(slot), *this); });
}

// What the state wants. One that fails to say so, or that asks for an input which is none, gets no more of this pass.
Want MergeBody::want() {
  Want wanted;
  if (wants_nothing_) return wanted;
  wants_nothing_ = !guarded(OfPass{pass_}, [&] { wanted = wanted_by(*state_, ports_.size()); });
  if (input_runs_.is_one_due()) ports_.run_inputs();
  return wants_nothing_ ? Want::nothing() : wanted;
}

// ------------------------------------------------------------------------------------------------ the results

template <class StampOf, class Call> bool MergeBody::guarded(const StampOf& stamp, Call&& call) {
  try {
    call();
    return true;
  } catch (...) {
    append_failure(*out_, stamp());
    return false;
  }
}

}  // namespace penstock::exec
