#include "lib/exec/runner.h"

#include <utility>

#include "lib/exec/async_target.h"

namespace penstock::exec {
namespace {

// Asked without the lock: mostly there are none.
bool may_have_calls(const StageSigns& signs) {
  return signs.is_starting || signs.open_calls.load(std::memory_order_relaxed) != 0 ||
         signs.has_folded.load(std::memory_order_relaxed);
}

}  // namespace

void Runner::run_token(bool on_pool) noexcept {
  const std::int64_t until = core_.traits.machine.now() + (core_.traits.one_at_a_time ? 0 : 50'000);
  bool memory_is_short = false;
  {
    MutexLock lock(core_.mutex);
    core_.or_give_up([&]() REQUIRES(core_.mutex) {
      while (core_.state.may_run(on_pool)) {
        Group* group = claim_group();
        if (group == nullptr) break;
        if (std::exchange(core_.state.tokens.held_back, false)) core_.pump();
        run_group(*group);
        if (core_.traits.one_at_a_time) break;
        core_.pump();
        if (core_.state.meter.accounted_until() >= until && place_is_wanted(on_pool)) break;
      }
    });
    memory_is_short = leave_token(on_pool);
  }
  if (memory_is_short) core_.outside().wake_consumer();
}

// By others, on the pool in turn: one whose calls are never long would keep its thread for ever.
bool Runner::place_is_wanted(bool on_pool) const {
  const StageTraits& traits = core_.traits;
  return on_pool ? traits.launcher.pool_is_wanted() : traits.host.permit_is_wanted(traits.index);
}

// Whether the stage waits for memory.
bool Runner::leave_token(bool on_pool) {
  const bool has_permit = core_.state.tokens.take_back(on_pool);
  {
    const MutexUnlock unlock(core_.mutex);
    if (has_permit) core_.outside().release_permit();
    if (!on_pool && !has_permit) core_.outside().end_without_permit();
    core_.outside().offer_memory();
  }
  core_.pump();
  return core_.state.reservation.is_refused();
}

bool Runner::help() {
  MutexLock lock(core_.mutex);
  StageState& state = core_.state;
  const std::int64_t most = state.knobs.parallelism + state.output.lanes.calls_beyond(state.tokens.running);
  const bool may_call = state.tokens.running < most && !state.reservation.is_refused();
  if (!state.goes_on() || (state.folded.empty() && !may_call)) return false;
  ++state.tokens.out;  // beyond the parallelism, maybe: a token that has not begun yet finds that and leaves
  Group* group = nullptr;
  core_.or_give_up([&]() REQUIRES(core_.mutex) {
    group = claim_group();
    if (std::exchange(core_.state.tokens.held_back, false)) core_.pump();
    if (group != nullptr) run_group(*group);
  });
  --state.tokens.out;
  core_.pump();
  return group != nullptr;
}

// The oldest waiting group, with its memory reserved; null if there is none or no memory.
Group* Runner::claim_group() {
  Group* const group = core_.state.take_group();
  if (group == nullptr) return nullptr;
  core_.state.begin(*group);
  if (group->folded.is_unfolding) return group;
  ask_hint(*group);
  if (!provide(*group)) {
    core_.state.put_back(*group);
    return nullptr;
  }
  withdraw_claim();
  return group;
}

// Reserves memory for a call on the group. If there is no room, it is shrunk to its first element, and gets memory all
// the same if the rule of progress allows that.
bool Runner::provide(Group& group) {
  StageState& state = core_.state;
  const bool others_wait = state.reservation.is_refused();  // since the hint was asked for
  const bool is_given = state.reservation.take(group, state.tokens.running);
  if (!is_given && !state.may_force(group)) return false;
  if (!is_given) {
    state.shrink(group);
    ask_hint(group);
    state.reservation.force(group);
  }
  // Other tokens had asked for a wake-up by the same sign, which is down by now: so tokens are counted out again.
  if ((!is_given || others_wait) && !state.reservation.is_refused() && state.ring.has_ready())
    state.tokens.held_back = true;
  return true;
}

void Runner::ask_hint(Group& group) {
  if (core_.traits.plan.serial || group.memory.has_hint() || !core_.state.first_calls.may_have_hint()) return;
  std::optional<std::int64_t> bytes;
  {
    const MutexUnlock unlock(core_.mutex);
    bytes = core_.calls().bytes_hint(group);
  }
  group.memory.hint = bytes.value_or(CallMemory::kNoHint);
  if (core_.state.first_calls.note_hint(bytes.has_value())) core_.state.tokens.held_back = true;
}

void Runner::withdraw_claim() {
  if (!core_.state.reservation.withdraw_claim()) return;
  const MutexUnlock unlock(core_.mutex);
  core_.outside().offer_memory();
}

// ------------------------------------------------------------------------------------------------ calls

void Runner::run_group(Group& group) {
  if (group.folded.is_unfolding) return unfold(group);
  group.inputs.elements = elements_of(group.slots);
  ++core_.state.meter.counters.calls;
  if (core_.traits.plan.form == Form::completes_later && !group.slots.empty() && group.slots.front().is_element()) {
    start_detached(group);
  } else {
    run_to_end(group);
  }
}

void Runner::run_to_end(Group& group) {
  StageState& state = core_.state;
  group.sample.is_taken = state.meter.sample_now(group);
  core_.state.parts.open(group);
  std::optional<Calls::Outcome> outcome;
  {
    const MutexUnlock unlock(core_.mutex);
    outcome = run_call(group);
  }
  if (!outcome) return state.put_back(group);
  const ThreadUse& use = outcome->use;
  state.meter.count_use(use);
  group.sample.note(use);
  state.meter.counters.copied_bytes += outcome->copied_bytes;
  state.finish(group, outcome->sealed, state.meter.count_held(outcome->held_bytes));
}

// Nothing: the call was broken off for want of memory.
std::optional<Calls::Outcome> Runner::run_call(Group& group) {
  Calls::Record record(core_.traits.machine);
  if (!core_.calls().run(group, record)) return std::nullopt;
  core_.calls().close(group, record);
  if (!group.rest.slots.empty()) {
    MutexLock lock(core_.mutex);
    core_.state.parts.take_back(group, core_.state.cancellation);
  }
  return core_.calls().end(group, record);
}

void Runner::start_detached(Group& group) {
  ++core_.state.tokens.detached;
  auto target = std::make_shared<AsyncTarget>(*this, group);
  group.target = target;
  group.sample.is_taken = core_.state.meter.sample_now(group);
  ThreadUse use;
  {
    const MutexUnlock unlock(core_.mutex);
    use = core_.calls().start(group, target);
  }
  core_.state.meter.count_use(use);
}

void Runner::complete(Group& group, Slot::Kind kind, Element value) noexcept {
  Slot& slot = group.slots.front();
  slot.value = std::move(value);
  slot.set_kind(kind);
  Sealed sealed;
  {
    MutexLock lock(core_.mutex);
    core_.or_give_up([&]() REQUIRES(core_.mutex) {
      const MutexUnlock unlock(core_.mutex);
      core_.calls().trace_later_call(group);
      sealed = core_.calls().settle(group);
    });
    ++core_.visitors;  // before the group lets go of its target, by which stop() would find this call
    --core_.state.tokens.detached;
    group.target.reset();
    core_.state.account(core_.traits.machine.now());
    core_.state.finish(group, sealed, 0);
    core_.pump();
  }
  core_.outside().offer_memory();
  MutexLock lock(core_.mutex);
  core_.leave();
}

// The next results of a group whose body has run.
void Runner::unfold(Group& group) {
  Sealed sealed;
  {
    const MutexUnlock unlock(core_.mutex);
    sealed = core_.calls().seal(group);
  }
  core_.state.account(core_.traits.machine.now());
  --core_.state.tokens.running;
  core_.state.release(group, sealed, 0);
}

// ------------------------------------------------------------------------------------------------ calls that go on

bool Runner::look_after_calls() {
  const StageSigns& signs = core_.signs;
  if (!may_have_calls(signs)) return false;
  MutexLock lock(core_.mutex);
  if (!core_.state.goes_on()) return false;
  want_long_calls_back();
  ++core_.visitors;
  const bool found = let_parts_leave();
  if (signs.is_starting) let_more_begin();
  // The call that is due in a nest may begin now, since the others take long.
  if (found || signs.is_starting || core_.traits.plan.is_nest()) core_.pump();
  core_.leave();
  return found;
}

void Runner::want_long_calls_back() {
  const std::int64_t now = core_.traits.machine.now();
  for (const auto& group : core_.state.ring.groups()) {
    if (now - group->start.ns > kLongCall) group->want_back();
  }
}

bool Runner::let_parts_leave() {
  bool found = false;
  StageState& state = core_.state;
  core_.or_give_up([&]() REQUIRES(core_.mutex) {
    if (core_.traits.plan.is_nest()) {
      found = let_slots_of_nest_leave();
    } else {
      for (Group* part = nullptr; state.goes_on() && (part = state.parts.take()) != nullptr;) {
        found = true;
        finish_part(*part);
      }
    }
    if (state.goes_on() && state.beyond_calls() > 0) {
      found = true;
      run_group(*claim_group());
    }
  });
  return found;
}

void Runner::finish_part(Group& part) {
  const Sealed sealed = settle_part(part);
  core_.state.release(part, sealed, 0);
}

// Its results become slots, and count.
Sealed Runner::settle_part(Group& part) {
  const std::int64_t inputs = core_.state.parts.inputs_of(part);
  Sealed sealed;
  {
    const MutexUnlock unlock(core_.mutex);
    sealed = core_.calls().settle(part);
  }
  core_.state.account(core_.traits.machine.now());
  core_.state.meter.counters.completed += inputs;
  return sealed;
}

bool Runner::let_slots_of_nest_leave() {
  StageState& state = core_.state;
  bool found = false;
  Group* owner = nullptr;
  for (std::unique_ptr<Group> part; state.goes_on() && (part = state.parts.take_of_nest(owner)) != nullptr;) {
    found = true;
    const Sealed sealed = settle_part(*part);
    state.meter.count_results(sealed);
    core_.traits.memory.settle(part->memory.let_go(), 0, sealed.bytes);
    state.output.add_part(*owner, part->slots);
    state.ring.spare(std::move(part));
    core_.pump();
  }
  return found;
}

}  // namespace penstock::exec
