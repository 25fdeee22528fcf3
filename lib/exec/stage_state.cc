#include "lib/exec/stage_state.h"

#include <algorithm>
#include <utility>

#include "lib/exec/async_target.h"

namespace penstock::exec {
namespace {

constexpr std::size_t kFetchedAhead = 8;  // groups

// As many calls as there are cores, and a few where they wait, which open_io may forbid.
std::int64_t first_parallelism(const StagePlan& plan, const StageHost& host) {
  if (plan.serial) return 1;
  if (plan.form == Form::computes) return first_value(plan.parallelism, host.facts().permits);
  return first_value(plan.parallelism, std::min<std::int64_t>(4, host.facts().open_io));
}

// Of a nest: datasets beyond the cycle, which may each hold a file open. As many as tf.data opens, or as there are
// calls.
std::int64_t first_window(const StagePlan& plan, std::int64_t parallelism) {
  return plan.is_nest() ? std::max(2 * plan.nest.cycle_length, parallelism) : 2 * parallelism;
}

StageKnobs first_knobs(const StageTraits& traits, const StageHost& host) {
  const std::int64_t parallelism = first_parallelism(traits.plan, host);
  return {parallelism, traits.one_at_a_time ? 1 : first_window(traits.plan, parallelism),
          first_value(traits.plan.buffer, traits.one_at_a_time ? 1 : 2)};
}

void describe_held(const Group& group, StageSnapshot& out) {
  out.bytes_held += group.folded.bytes;
  if (group.inner) out.bytes_held += group.inner->out_bytes + group.inner->charged_held;
  if (group.state == Group::State::done) return;
  out.bytes_held += group.inputs.bytes;
  if (group.state == Group::State::waiting && group.folded.bytes == 0) out.ready += group.inputs.admitted;
}

// Once the run has been stopped nobody waits for a Completion that is still out.
bool is_under_way(const Group& group, bool stopped) {
  if (group.state != Group::State::running) return false;
  return !stopped || group.target == nullptr || group.target->is_starting();
}

// What takes time.
std::int64_t slots_made(const Group& group) {
  return std::ranges::count_if(group.slots, [](const Slot& slot) { return slot.kind() != Slot::Kind::save_point; });
}

// False: the group is of no use. What it has, then, is dropped, and so is an error that was delivered before.
bool open_lane(Group& group, Lanes& lanes, Inbox& inbox) {
  const bool is_admitted = lanes.admit(group);
  const bool has_been_told = group.inner && group.inner->has_ended && group.inner->given.slots > 0;
  if (!is_admitted || has_been_told) inbox.drop(group.slots);
  return is_admitted;
}

}  // namespace

StageState::StageState(const StageTraits& traits, StageSigns& signs, const StageHost& host,
                       const std::unique_ptr<Body>& body, RowLedger* ledger, std::size_t marks)
    : knobs(first_knobs(traits, host)),
      meter(traits),
      sizes(traits, signs, knobs, meter),
      inbox(traits, marks),
      ports(traits, signs),
      ring(traits, marks),
      folded(signs),
      first_calls(traits, signs),
      reservation(traits, signs, knobs, meter, sizes),
      output(traits, ring, sizes, knobs, folded, meter),
      parts(traits, signs, body, ring),
      cancellation(traits, inbox, ring, output.lanes, folded, ledger),
      traits_(traits),
      signs_(signs),
      body_(body),
      ledger_(ledger) {}

// Output first: groups that leave, even those without any result, make room in the window.
PacketRef StageState::let_groups_pass() {
  PacketRef packet;
  for (bool admitted = true; admitted && !packet;) {
    if (!output.is_emitting()) packet = next_packet();
    admitted = false;
    while (admit_group()) admitted = true;
  }
  return packet;
}

Actions StageState::next_actions() {
  Actions actions;
  actions.packet = let_groups_pass();
  if (is_open && !traits_.is_source) actions.credits = top_up();
  const bool waited = reservation.is_refused();
  actions.launches = claim_tokens();
  actions.wake_consumer = !waited && reservation.is_refused();
  // The promise to the consumer that more comes soon cannot be kept without a CPU permit: tell it.
  if (output.owes_wake() && signs_.waits_for_permit && !actions.packet && !output.is_emitting())
    actions.packet = next_packet();
  if (actions.packet) output.set_emitting(true);
  inbox.swap_dropped(actions.unwanted);
  cancellation.swap_stops(actions.stops);
  actions.on_pool = signs_.on_pool;
  actions.became_empty = became_empty();
  return actions;
}

// True once.
bool StageState::became_empty() {
  // What is open in a nest may wait for the next input, too.
  const std::int64_t in_ring = traits_.plan.is_nest() && output.lanes.wants_input() ? 0 : ring.in_window();
  const std::int64_t now = inbox.waiting() + in_ring + (output.is_emitting() ? 1 : 0);
  const std::int64_t before = signs_.occupied.exchange(now);
  return traits_.plan.is_merge() ? ports.became_empty() : now == 0 && before != 0;
}

void StageState::account(std::int64_t now) noexcept {
  const bool is_starved = tokens.running < knobs.parallelism && !ring.has_ready() && inbox.waiting() == 0;
  meter.account(now, tokens.running, is_starved, output.is_blocked());
}

// ------------------------------------------------------------------------------------------------ input

CreditList StageState::top_up() {
  if (traits_.plan.is_merge()) return ports.top_up(sizes.capacity());
  const std::int64_t more = inbox.top_up(sizes.capacity());
  return more > 0 ? CreditList{Credits{0, more}} : CreditList();
}

// Makes one group of what waits. False: nothing waits, or the window is full.
bool StageState::admit_group() {
  if (traits_.is_head) return produce();
  const bool piles_up = reservation.is_refused() && ring.has_ready();  // inputs, by which nothing is gained
  if (traits_.plan.is_nest() ? !output.lanes.admits(piles_up) : piles_up) return false;
  const std::int64_t admitted = sizes.admitted(inbox.waiting(), ring.in_window());
  if (admitted == 0) return false;
  auto group = ring.new_group();
  inbox.fill(*group, admitted);
  place(std::move(group));
  return true;
}

void StageState::place(std::unique_ptr<Group> group) {
  if (group->slots.empty()) return ring.spare(std::move(group));  // all of it was unwanted
  bool has_work = traits_.plan.serial || (traits_.plan.has_state && !group->slots.back().is_item());
  group->place.sequence = group->slots.front().stamp.sequence;
  std::int64_t inputs = 0;
  for (const Slot& slot : group->slots) {
    group->inputs.bytes += slot.bytes();
    has_work = has_work || slot.is_element();
    inputs += slot.is_item();
  }
  ring.count_inputs(inputs, group->mark && group->mark->ends_input(traits_.plan.depth));
  if (traits_.plan.is_nest() && !open_lane(*group, output.lanes, inbox)) return ring.spare(std::move(group));
  if (ledger_ != nullptr) group->place.first_turn = ledger_->admit(group->slots);
  if (!has_work) output.add(*group);
  ring.append(std::move(group));
}

// The next group of a source or a merge: as many elements as the next stage has room for.
bool StageState::produce() {
  const std::int64_t room = output.room();
  if (tokens.running > 0 || ring.has_ready() || room <= 0 || !body_->can_produce()) return false;
  auto group = ring.new_group();
  group->inputs.admitted = std::min(sizes.group(inbox.waiting()), room);
  ring.append(std::move(group));
  return true;
}

// ------------------------------------------------------------------------------------------------ tokens

// Counts out new tokens for what is ready; the caller launches them. A token in hand but not yet running will take one
// group itself, so only groups beyond those need another.
std::int64_t StageState::claim_tokens() {
  if (reservation.is_refused() && ring.has_ready() && may_force(ring.first_ready())) reservation.look_again();
  if (signs_.waits_for_permit) return 0;
  const bool may_start = ring.has_ready() && !reservation.is_refused();
  const std::int64_t ready = folded.size() + (may_start ? ring.startable_groups(bounds()) : 0);
  const std::int64_t most = first_calls.most(knobs.parallelism, meter.counters.completed) + beyond_calls() +
                            output.lanes.calls_beyond(tokens.calls());
  std::int64_t claimed = 0;
  while (tokens.idle() < ready && tokens.calls() < most &&
         (tokens.idle() < folded.size() || has_room(tokens.idle() - folded.size()))) {
    if (!signs_.on_pool && !traits_.host.acquire_permit(traits_.index)) {
      signs_.waits_for_permit = true;
      break;
    }
    tokens.hand_out(!signs_.on_pool);
    ++claimed;
  }
  return claimed;
}

// Whether one more token may find memory for its call, behind `tokens_before` that are out and have reserved nothing
// yet. A thread whose call finds none is woken in vain: where hundreds of calls were allowed and memory was short, all
// of them were, for each element that left.
bool StageState::has_room(std::int64_t tokens_before) {
  if (traits_.plan.passes_memory_on || traits_.one_at_a_time) return true;
  const Group& group = ring.first_ready();
  if (reservation.has_room(group, tokens_before + 1)) return true;
  tokens.held_back = tokens_before > 0;  // a token of those that gets memory looks again; one that gets none waits
  if (tokens.held_back || (reservation.wait(group, tokens.running) && !may_force(group))) return false;
  reservation.look_again();
  return true;
}

bool StageState::may_run(bool on_pool) const {
  const bool has_work = !reservation.is_refused() || !folded.empty();
  return goes_on() && on_pool == signs_.on_pool &&
         tokens.calls() <= knobs.parallelism + beyond_calls() + output.lanes.calls_beyond(tokens.calls()) && has_work;
}

// The oldest group that waits; but first those whose results are there already.
Group* StageState::take_group() {
  if (!folded.empty()) return &folded.take_first();
  const std::int64_t most =
      first_calls.most(knobs.parallelism, meter.counters.completed) + output.lanes.calls_beyond(tokens.calls());
  if (reservation.is_refused() || !ring.has_ready() || tokens.running >= most) return nullptr;
  Group& group = ring.first_ready();
  std::int64_t count = ring.startable(group, bounds());
  if (count == 0) return nullptr;
  // Else one thread after the other would run an element, and give back the rest.
  if (group.kind == Group::Kind::came_back) count = std::min(count, sizes.group(inbox.waiting()));
  ring.pop_ready();
  if (count < static_cast<std::int64_t>(group.slots.size())) {
    ring.keep_first(group, count);
    tokens.held_back = tokens.held_back || group.kind == Group::Kind::came_back;
  }
  return &group;
}

void StageState::begin(Group& group) {
  account(traits_.machine.now());
  group.state = Group::State::running;
  group.start.ns = meter.accounted_until();
  group.start.thread = traits_.machine.thread_number();
  if (traits_.plan.is_merge()) group.inputs.bytes += body_->take_arrivals();
  if (group.inner) output.lanes.prepare(group);
  const Stamp* first = group.inner ? &group.inner->stamp : group.slots.empty() ? nullptr : &group.slots.front().stamp;
  group.start.ordinal = first == nullptr ? -1 : first->ordinal;
  group.start.source = first == nullptr ? 0 : first->source;
  ++tokens.running;
  signs_.busy.store(true, std::memory_order_relaxed);
  if (!group.folded.is_unfolding) first_calls.begin(meter.accounted_until());
}

void StageState::put_back(Group& group) {
  account(traits_.machine.now());
  group.state = Group::State::waiting;
  reservation.give_back(group);
  --tokens.running;
  ring.put_in_line(group);
  if (group.is_unwanted) cancellation.cancel(group);  // since it was taken
}

bool StageState::may_force(const Group& group) const {
  if (Reservation::needs_none(group)) return true;
  return (group.inner ? output.lanes.is_due(group) : is_oldest(ring, group)) && !output.is_emitting() &&
         traits_.neighbours.is_empty_behind(traits_.index);
}

void StageState::shrink(Group& group) {
  const std::int64_t most = sizes.forced();
  if (traits_.is_head) ring.admit_less(group, most);
  if (group.inner) group.inner->wanted = std::min(group.inner->wanted, most);
  if (static_cast<std::int64_t>(group.slots.size()) <= most) return;
  Group& rest = ring.keep_first(group, most);
  if (group.is_unwanted) cancellation.cancel(rest);
}

// ------------------------------------------------------------------------------------------------ results

void StageState::finish(Group& group, const Sealed& results, std::int64_t kept_bytes) {
  const std::int64_t now = traits_.machine.now();
  account(now);
  --tokens.running;
  if (traits_.plan.is_merge()) ports.note_changes(body_->changed_inputs());
  const auto inputs = traits_.makes_slots ? slots_made(group) : group.inputs.elements;
  group.memory.take_over();
  const bool knew_nothing = meter.bytes() <= 0;
  meter.learn(group, inputs, results.bytes + results.folded, now);
  release(group, results, kept_bytes);
  if (knew_nothing && !traits_.plan.passes_memory_on) reservation.take_for_first_calls(ring);
}

void StageState::release(Group& group, const Sealed& results, std::int64_t kept_bytes) {
  if (group.inner) {
    const std::int64_t held = group.inner->held_bytes;
    traits_.memory.charge(held - std::exchange(group.inner->charged_held, held));
  }
  output.add(group);
  meter.count_results(results);
  const std::int64_t bytes = results.bytes + results.folded;
  const std::int64_t folded_before = folded.count(group, results.folded, results.hollow);
  MemoryBudget& memory = traits_.memory;
  if (traits_.plan.passes_memory_on || group.folded.is_unfolding) {
    memory.charge(bytes + kept_bytes - group.inputs.bytes - group.memory.reserved - folded_before);
  } else {
    memory.settle(group.memory.reserved, group.inputs.bytes, bytes);
  }
  group.memory.reserved = group.inputs.bytes = 0;
  if (group.is_unwanted) cancellation.let_go_of_folded(group);
}

PacketRef StageState::next_packet() {
  PacketRef packet = output.collect();
  if (traits_.one_at_a_time) return packet;
  const bool may_begin = ring.has_ready() && !reservation.is_refused() && !signs_.waits_for_permit;
  signs_.cheap.store(sizes.is_cheap(), std::memory_order_relaxed);
  signs_.busy.store(tokens.running > 0 || !folded.empty() || may_begin, std::memory_order_relaxed);
  if (!traits_.neighbours.edges().is_last(traits_.index)) return packet;
  // Where memory is short, what is ready may be what everything else waits for.
  const MemoryBudget& memory = traits_.memory;
  const bool has_memory = 2 * memory.used() < memory.limit();
  return output.for_consumer(std::move(packet), has_memory && traits_.neighbours.brings_soon(traits_.index), sizes);
}

// ------------------------------------------------------------------------------------------------ snapshot

void StageState::describe(StageSnapshot& out) const {
  const std::int64_t now = traits_.machine.now();
  meter.describe(now, tokens.running, out);
  out.parallelism = knobs.parallelism;
  out.window = knobs.window;
  out.buffer = knobs.buffer;
  out.grain_ns = knobs.grain_ns;
  out.on_pool = signs_.on_pool;
  out.dropped = signs_.dropped.load(std::memory_order_relaxed);
  out.running = tokens.running;
  out.waiting_input = traits_.plan.is_merge() ? ports.waiting() : inbox.waiting();
  out.in_window = std::max<std::int64_t>(ring.in_window() - traits_.plan.nest.cycle_length, 0);
  out.credits = output.credits();
  out.waits_for_memory = reservation.is_refused();
  out.waits_for_cpu_slot = signs_.waits_for_permit;
  out.bytes_expected = static_cast<std::int64_t>(sizes.expected_bytes());
  describe_ring(now, out);
}

void StageState::describe_ring(std::int64_t now, StageSnapshot& out) const {
  const bool stopped = traits_.host.stopped();
  const auto& groups = ring.groups();
  const Group* oldest = nullptr;
  begins_.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    // Groups lie anywhere, and other cores have just written to them.
    if (i + kFetchedAhead < groups.size()) __builtin_prefetch(groups[i + kFetchedAhead].get());
    const auto& group = groups[i];
    describe_held(*group, out);
    if (!is_under_way(*group, stopped)) continue;
    begins_.push_back(group->start.ns);
    if (oldest == nullptr || group->start.ns < oldest->start.ns) oldest = group.get();
  }
  if (oldest == nullptr) return;
  out.oldest_call_ns = now - oldest->start.ns;
  out.oldest_call_ordinal = oldest->start.ordinal;
  out.oldest_call_source = oldest->start.source;
  const auto middle = begins_.begin() + static_cast<std::ptrdiff_t>(begins_.size() / 2);
  std::nth_element(begins_.begin(), middle, begins_.end());
  out.median_call_ns = now - *middle;
}

}  // namespace penstock::exec
