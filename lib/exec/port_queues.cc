#include "lib/exec/port_queues.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::exec {
namespace {

std::int64_t bytes_in(const Queue<Slots>& packets) {
  std::int64_t bytes = 0;
  for (const Slots& packet : packets) {
    for (const Slot& slot : packet) bytes += slot.bytes();
  }
  return bytes;
}

}  // namespace

PortQueues::PortQueues(std::size_t stage, const std::vector<PortPlan>& ports, std::size_t digits, BodyHost& host)
    : stage_(stage), host_(host), news_(ports.size()), at_(digits) {
  for (const PortPlan& port : ports) ports_.emplace_back(port, digits);
  arrived_.reserve(ports.size());
}

void PortQueues::arrive(std::size_t port, Slots&& slots) {
  if (ports_[port].arrived.empty()) arrived_.push_back(port);
  ports_[port].arrived.push_back(std::move(slots));
}

std::int64_t PortQueues::take_arrivals() {
  std::int64_t bytes = 0;
  for (const std::size_t number : arrived_) {
    Port& port = ports_[number];
    bytes += bytes_in(port.arrived);
    for (const Slots& packet : port.arrived) waiting_ += packet.size();
    std::ranges::move(port.arrived, std::back_inserter(port.queue));
    port.arrived.clear();
  }
  arrived_.clear();
  held_bytes_ += bytes;
  return bytes;
}

bool PortQueues::let_go(Slots& to, bool is_running) noexcept {
  for (Port& port : ports_) {
    Queue<Slots>& packets = is_running || port.queue.empty() ? port.arrived : port.queue;
    if (packets.empty()) continue;
    to.swap(packets.front());
    packets.pop_front();
    return true;
  }
  arrived_.clear();
  return false;
}

// What is left of earlier passes goes. Whether the next slot of this one is then there.
bool PortQueues::pass_earlier(std::size_t number) {
  Port& port = ports_[number];
  while (!port.queue.empty() && port.at <= at_) {
    if (is_ready(port)) return true;
    const Slot gone = pop(number);
    if (gone.kind() == Slot::Kind::pass_end) {
      pass_mark(number, gone);
    } else {
      leave_out(port, gone);
    }
  }
  return false;
}

void PortQueues::leave_out(Port& port, const Slot& slot) {
  if (slot.kind() == Slot::Kind::save_point) {
    port.save_point = save_point_of(slot);
    port.saved_at = port.at;
    port.since = {};
    has_saved_ = true;
  } else if (port.is_in_pass && port.again.goes_on() && !port.again.take(slot)) {
    host_.give_up(fails_this_time(slot));
  }
}

Slot PortQueues::pop(std::size_t number) {
  Port& port = ports_[number];
  Slots& front = port.queue.front();
  Slot slot = std::move(front[port.taken]);
  held_bytes_ -= slot.bytes();
  port.since.add(slot);
  --waiting_;
  news_.take(number);
  if (++port.taken == front.size()) {
    port.queue.pop_front();
    port.taken = 0;
    news_.tell_of_taken(number);
  }
  return slot;
}

void PortQueues::go_on_to(std::size_t level, std::uint64_t round) {
  at_.turn(level, round);
  for (Port& port : ports_) {
    port.is_in_pass = port.at == at_;
    port.again = {};  // that was of the pass before
    port.skips_pass = false;
  }
  let_go_of_earlier_passes();
  ask_all_to_catch_up();
}

void PortQueues::ask_all_to_catch_up() {
  for (std::size_t port = 0; port < ports_.size(); ++port) ask_to_catch_up(port);
}

// Those of the first time are in that pass as they are.
void PortQueues::run_inputs() {
  host_.begin_inputs(stage_);
  if (++runs_ > 1) go_on_to(0, round_of_request(runs_));
}

void PortQueues::let_go_of_earlier_passes() {
  for (std::size_t port = 0; port < ports_.size(); ++port) has_slot(port);
}

void PortQueues::pass_mark(std::size_t number, const Slot& mark) {
  Port& port = ports_[number];
  port.sequence = mark.stamp.sequence + 1;
  host_.input_has_ended(stage_, number, mark.stamp.sequence);
  if (mark.level() >= port.depth) {
    port.at.turn(mark.level() - port.depth, PassControl::round_of(mark));
    port.since = {};
  }
  port.is_in_pass = port.at == at_;
  if (port.at > at_) {
    if (std::exchange(port.again, {}).goes_on()) missed_ = true;
    port.skips_pass = false;
  }
  ask_to_catch_up(number);
}

// ------------------------------------------------------------------------------------------------ save points

// A save point of an earlier epoch is none: the input is read from the beginning of this one then.
std::vector<SavePoint::Input> PortQueues::save(StateWriter& out) {
  std::vector<SavePoint::Input> inputs;
  const Odometer beginning(at_.digits().size());
  for (const Port& port : ports_) {
    const bool has_one = port.saved_at.is_in_round_of(at_);
    const bool is_in_pass = port.at == at_;
    inputs.push_back(
        {has_one ? port.save_point : nullptr, port.again.count() + (is_in_pass ? port.since : SlotCount())});
    out.number(port.at > at_ || port.skips_pass ? 1 : 0);
    write_digits((has_one ? port.saved_at : beginning).digits(), out);
  }
  has_saved_ = false;
  return inputs;
}

std::vector<SavePointRef> PortQueues::resume_from(const SavePoint& here, StateReader& in,
                                                  std::vector<std::int64_t> digits) {
  at_ = Odometer(std::move(digits));
  std::vector<SavePointRef> inputs;
  for (std::size_t number = 0; number < ports_.size(); ++number) {
    Port& port = ports_[number];
    const SavePoint::Input& input = here.inputs[number];
    port.skips_pass = in.number(0, 1) == 1;
    port.at = port.saved_at = Odometer(read_digits(at_.digits().size(), in));
    if (port.at > at_) fail_to_resume();
    port.is_in_pass = port.at == at_;
    port.save_point = input.at;
    port.again = LeftOut(input.since, port.keeps_numbers);
    inputs.push_back(input.at);
  }
  return inputs;
}

// Its branch ends all passes that come before the merge's.
void PortQueues::ask_to_catch_up(std::size_t number) {
  const Port& port = ports_[number];
  if (port.at < at_) host_.cut_input(stage_, number, {port.depth + at_.highest_difference(port.at), port.sequence});
}

}  // namespace penstock::exec
