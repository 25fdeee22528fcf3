#include "lib/exec/merge_body.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <penstock/error.h>
#include <penstock/random.h>

namespace penstock::exec {
namespace {

// After so many ends that it is told, and more than there are inputs, an op that still wants one goes in circles.
constexpr std::size_t kMostEnds = 100;

std::int64_t bytes_in(const Queue<Slots>& packets) {
  std::int64_t bytes = 0;
  for (const Slots& packet : packets) {
    for (const Slot& slot : packet) bytes += slot.bytes();
  }
  return bytes;
}

}  // namespace

MergeBody::MergeBody(std::unique_ptr<MergeState> state, std::size_t stage, const MergeInputs& inputs, BodyHost& host,
                     PassControl& passes)
    : state_(std::move(state)),
      stage_(stage),
      random_key_(inputs.random_key),
      host_(host),
      passes_(passes),
      at_(passes.depth()) {
  for (const PortPlan& port : inputs.ports) ports_.emplace_back(port.depth, passes.depth());
}

// ------------------------------------------------------------------------------------------------ under the lock

bool MergeBody::can_produce() const {
  const auto has_news = [](const Port& port) { return !port.arrived.empty(); };
  return !lacks_input_ || passes_.changes() != seen_ || std::ranges::any_of(ports_, has_news);
}

void MergeBody::arrive(std::size_t port, Slots&& slots) { ports_[port].arrived.push_back(std::move(slots)); }

std::int64_t MergeBody::take_arrivals() {
  std::int64_t bytes = 0;
  for (Port& port : ports_) {
    bytes += bytes_in(port.arrived);
    std::ranges::move(port.arrived, std::back_inserter(port.queue));
    port.arrived.clear();
  }
  held_bytes_ += bytes;
  return bytes;
}

// ------------------------------------------------------------------------------------------------ the run

void MergeBody::run(Group& group, Context&) {
  out_ = &group.slots;
  const auto most = static_cast<std::size_t>(group.inputs.admitted);
  seen_ = passes_.changes();
  Step did = enter_pass();
  const bool is_in_pass = did == Step::went_on;
  while (did == Step::went_on && out_->size() < most) did = step();
  if (did == Step::pass_has_ended) close_pass();
  lacks_input_ = did == Step::lacks_input;
  if (!is_in_pass) let_go_of_earlier_passes();
  publish(is_in_pass && did != Step::pass_has_ended ? want() : Want::nothing());
  out_ = nullptr;
}

// Without any pass to be in, it waits as for an input.
MergeBody::Step MergeBody::enter_pass() {
  PassControl::Pass pass;
  if (!passes_.current(pass)) return Step::lacks_input;
  if (pass.over) return Step::pass_has_ended;
  if (pass.fresh) {
    pass_ = pass.stamp;
    wants_nothing_ = false;
    ends_told_ = 0;
    if (!guarded(of_no_element(pass_), [this] { state_->begin_pass(pass_); })) wants_nothing_ = true;
  }
  return passes_.cut_requested() ? Step::pass_has_ended : Step::went_on;
}

MergeBody::Step MergeBody::step() {
  const Want wanted = want();
  switch (wanted.kind) {
    case Want::Kind::one: return take_one(wanted.input);
    case Want::Kind::all: return take_all();
    case Want::Kind::nothing: break;
  }
  return Step::pass_has_ended;
}

MergeBody::Step MergeBody::take_one(std::size_t port) {
  if (has_slot(port)) {
    take(port);
  } else if (has_ended(port)) {
    tell_of_end(port);
  } else {
    return Step::lacks_input;
  }
  return Step::went_on;
}

void MergeBody::tell_of_end(std::size_t port) {
  const bool goes_on = guarded(of_no_element(pass_), [&] {
    if (++ends_told_ > kMostEnds + ports_.size())
      throw Error(ErrorCode::internal, "the op goes on to want input " + std::to_string(port) +
                                           ", though it was told that this one has ended: let ended() change what "
                                           "want() says");
    state_->ended(port, *this);
  });
  if (!goes_on && ends_told_ > kMostEnds) wants_nothing_ = true;
}

MergeBody::Step MergeBody::take_all() {
  bool is_complete = true;
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    is_complete = has_slot(port) && is_complete;
    if (has_ended(port)) return Step::pass_has_ended;
  }
  if (!is_complete) return Step::lacks_input;
  for (std::size_t port = 0; port < ports_.size(); ++port) take(port);
  return Step::went_on;
}

void MergeBody::take(std::size_t port) {
  Slot slot = pop(ports_[port], port);
  ends_told_ = 0;
  slot.stamp.sequence = pass_.sequence;
  // Branches count their elements alike: behind the merge those of different inputs must differ, or they would draw the
  // same random numbers. The first input's stay as they are.
  if (port > 0) slot.stamp.sub = mix64(slot.stamp.sub + mix64(random_key_ + port));
  const Stamp stamp = slot.stamp;
  guarded(stamp, [&] { state_->take(port, std::move(slot), *this); });
}

// What the state wants. One that fails to say so, or that asks for an input which is none, gets no more of this pass.
Want MergeBody::want() {
  Want wanted;
  if (wants_nothing_) return wanted;
  wants_nothing_ = !guarded(of_no_element(pass_), [&] {
    wanted = state_->want();
    if (wanted.kind == Want::Kind::one && wanted.input >= ports_.size())
      throw Error(ErrorCode::invalid_argument, "the op wants input " + std::to_string(wanted.input) +
                                                   ", but has only " + std::to_string(ports_.size()));
  });
  return wants_nothing_ ? Want::nothing() : wanted;
}

void MergeBody::close_pass() {
  Slot mark = passes_.close();
  at_.turn(mark.level(), PassControl::round_of(mark));
  out_->push_back(std::move(mark));
  let_go_of_earlier_passes();
  for (std::size_t port = 0; port < ports_.size(); ++port) ask_to_catch_up(port);
}

// What stages before and behind may know of it while it does not run.
void MergeBody::publish(const Want& wanted) {
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    PortSigns& signs = (*signs_)[port];
    const bool is_wanted = wanted.kind == Want::Kind::all || (wanted.kind == Want::Kind::one && wanted.input == port);
    signs.wanted = is_wanted;
    signs.soon = is_wanted || state_->soon(port);
  }
}

// ------------------------------------------------------------------------------------------------ the inputs

// Whether the next slot of this pass is there. What is left of earlier passes goes.
bool MergeBody::has_slot(std::size_t number) {
  Port& port = ports_[number];
  while (!port.queue.empty() && port.at <= at_) {
    const Slot& front = port.queue.front()[port.taken];
    if (front.kind() != Slot::Kind::pass_end && port.at == at_) return true;
    const Slot gone = pop(port, number);
    if (gone.kind() == Slot::Kind::pass_end) pass_mark(number, gone);
  }
  return false;
}

// Also where that input is not wanted for long: elements may hold what somebody waits for.
void MergeBody::let_go_of_earlier_passes() {
  for (std::size_t port = 0; port < ports_.size(); ++port) has_slot(port);
}

Slot MergeBody::pop(Port& port, std::size_t number) {
  Slots& front = port.queue.front();
  Slot slot = std::move(front[port.taken]);
  held_bytes_ -= slot.bytes();
  if (++port.taken == front.size()) {
    port.queue.pop_front();
    port.taken = 0;
  }
  --(*signs_)[number].occupied;
  return slot;
}

void MergeBody::pass_mark(std::size_t number, const Slot& mark) {
  Port& port = ports_[number];
  port.sequence = mark.stamp.sequence + 1;
  host_.input_has_ended(stage_, number, mark.stamp.sequence);
  if (mark.level() >= port.depth) port.at.turn(mark.level() - port.depth, PassControl::round_of(mark));
  ask_to_catch_up(number);
}

// Its branch ends all passes that come before the merge's.
void MergeBody::ask_to_catch_up(std::size_t number) {
  const Port& port = ports_[number];
  if (port.at < at_) host_.cut_input(stage_, number, {port.depth + at_.highest_difference(port.at), port.sequence});
}

// ------------------------------------------------------------------------------------------------ the results

template <class Call> bool MergeBody::guarded(const Stamp& stamp, Call&& call) {
  try {
    call();
    return true;
  } catch (...) {
    append_failure(*out_, stamp);
    return false;
  }
}

}  // namespace penstock::exec
