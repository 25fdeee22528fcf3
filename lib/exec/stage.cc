#include "lib/exec/stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/exec/async_target.h"
#include "lib/exec/resume_body.h"

namespace penstock::exec {
namespace {

// Calls that are under way on the cores go on there, but without a CPU permit: they wait, and what waits for one may
// be what they wait for.
void place(StageCore& core, bool on_pool) {
  std::int64_t permits = 0;
  {
    MutexLock lock(core.mutex);
    core.signs.on_pool = on_pool;
    if (on_pool) {
      core.signs.waits_for_permit = false;
      std::swap(permits, core.state.tokens.with_permit);
    }
    core.pump();
  }
  for (; permits > 0; --permits) core.outside().give_up_permit();
}

// A call that reads ahead may block for long: to lend it a thread of the pool does not help who waits.
bool waits_for_place(const StageSigns& signs, const Tokens& tokens, bool is_awaited) {
  return signs.waits_for_permit || (is_awaited && signs.on_pool && tokens.idle() > 0);
}

// Elements are users' code: destroyed on this thread, without the lock.
void let_go_of_inputs(StageCore& core) {
  for (bool more = true; more;) {
    Slots gone;
    MutexLock lock(core.mutex);
    more = core.state.inbox.let_go(gone) || core.body->let_go(gone, core.state.tokens.running > 0);
  }
}

}  // namespace

Stage::Stage(const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host, PassControl& passes)
    : core_(*this, plan, index, marks + 1, host, passes), runner_(core_) {}

void Stage::receive(std::size_t port, Slots&& slots) {
  MutexLock lock(core_.mutex);
  StageState& state = core_.state;
  state.meter.counters.elements_in += count_elements(slots);
  core_.or_give_up([&]() REQUIRES(core_.mutex) {
    if (!core_.traits.plan.is_merge()) return state.inbox.receive(std::move(slots));
    state.ports.receive(port, static_cast<std::int64_t>(slots.size()));
    core_.body->arrive(port, std::move(slots));
  });
  core_.pump();
}

void Stage::add_credits(std::int64_t count) {
  MutexLock lock(core_.mutex);
  core_.state.output.add_credits(count);
  core_.pump();
}

void Stage::permit_is_free() {
  MutexLock lock(core_.mutex);
  core_.signs.waits_for_permit = false;
  core_.pump();
}

void Stage::cancel_pass(std::size_t depth, std::uint64_t sequence, std::uint64_t last) {
  {
    MutexLock lock(core_.mutex);
    core_.or_give_up([&]() REQUIRES(core_.mutex) {
      if (core_.state.goes_on()) core_.state.cancellation.cancel(depth, sequence, std::max(sequence, last));
    });
    core_.pump();
  }
  core_.outside().offer_memory();
}

void Stage::open() {
  MutexLock lock(core_.mutex);
  core_.state.is_open = true;
}

void Stage::wake() {
  MutexLock lock(core_.mutex);
  core_.pump();
}

void Stage::recall() {
  MutexLock lock(core_.mutex);
  for (const auto& group : core_.state.ring.groups()) group->want_back();
}

bool Stage::can_be_relieved(bool is_awaited) const {
  MutexLock lock(core_.mutex);
  const StageState& state = core_.state;
  const std::int64_t most = state.knobs.parallelism + state.output.lanes.calls_beyond(state.tokens.running);
  const bool may_call = state.tokens.running < most && !state.reservation.is_refused() && state.ring.has_ready();
  return waits_for_place(core_.signs, state.tokens, is_awaited) && (may_call || !state.folded.empty()) &&
         state.goes_on();
}

void Stage::resume_after(const Stamp& last) { core_.body = std::make_unique<ResumeBody>(std::move(core_.body), last); }

Resumes* Stage::resumes() noexcept {
  MutexLock lock(core_.mutex);
  return core_.traits.plan.is_nest() ? &core_.state.output.lanes.resumes() : core_.body->resumes();
}

// ------------------------------------------------------------------------------------------------ the end

// The engine has set its stop flag, so nothing new starts. A run may end because there is no memory, so all that
// follows goes through the ring one group at a time, without a list of them. Backwards: only the oldest groups leave
// meanwhile.

// Completions that are still out are cut off.
void Stage::stop() {
  recall();
  for (std::size_t place = kPastAll; place > 0;) {
    std::shared_ptr<AsyncTarget> target;
    {
      MutexLock lock(core_.mutex);
      target = target_before(core_.state.ring, place);
    }
    if (target) target->detach();
  }
  core_.wait_for_visitors();
}

// Elements and the op's state are users' code: destroyed on this thread, without the lock. Nothing is counted any more.
void Stage::let_go_of_slots() {
  let_go_of_inputs(core_);
  for (std::size_t place = kPastAll; place > 0;) {
    Slots slots, answers, ready;
    std::unique_ptr<Inner> inner;
    MutexLock lock(core_.mutex);
    const auto& groups = core_.state.ring.groups();
    place = std::min(place, groups.size());
    if (place == 0) break;
    Group& group = *groups[--place];
    if (group.inner) ready = group.inner->let_go();
    if (group.state == Group::State::running) {
      answers = core_.state.parts.answers_of(group);
    } else {
      slots.swap(group.slots);
      answers.swap(group.folded.answers);
      inner.swap(group.inner);
    }
  }
}

void Stage::clear() {
  let_go_of_inputs(core_);
  for (bool more = true; more;) {
    std::unique_ptr<Group> gone;
    MutexLock lock(core_.mutex);
    gone = core_.state.ring.let_go();
    more = gone != nullptr;
  }
  Slots unwanted;
  std::unique_ptr<Body> body;
  {
    MutexLock lock(core_.mutex);
    core_.state.inbox.swap_dropped(unwanted);
    core_.state.folded.clear();
    core_.state.output.clear();
    body.swap(core_.body);
  }
  if (core_.ledger) core_.ledger->clear();
}

// ------------------------------------------------------------------------------------------------ knobs

void Stage::set(KnobKind knob, std::int64_t value) {
  if (knob == KnobKind::placement) return place(core_, value > 0);
  MutexLock lock(core_.mutex);
  StageKnobs& knobs = core_.state.knobs;
  const std::int64_t one = std::max<std::int64_t>(value, 1);
  switch (knob) {
    case KnobKind::parallelism:
      knobs.parallelism = one;
      if (!core_.traits.plan.is_nest()) knobs.window = std::max(knobs.window, one);
      break;
    case KnobKind::window: knobs.window = one; break;
    case KnobKind::buffer: knobs.buffer = one; break;
    case KnobKind::grain_ns: knobs.grain_ns = std::max<std::int64_t>(value, 0); break;
    default: break;  // not a stage's
  }
  core_.pump();
}

std::int64_t Stage::get(KnobKind knob) const {
  MutexLock lock(core_.mutex);
  const StageKnobs& knobs = core_.state.knobs;
  switch (knob) {
    case KnobKind::parallelism: return knobs.parallelism;
    case KnobKind::placement: return core_.signs.on_pool ? 1 : 0;
    case KnobKind::window: return knobs.window;
    case KnobKind::buffer: return knobs.buffer;
    case KnobKind::grain_ns: return knobs.grain_ns;
    default: return 0;  // not a stage's
  }
}

void Stage::snapshot(StageSnapshot& out) const {
  MutexLock lock(core_.mutex);
  core_.state.describe(out);
}

}  // namespace penstock::exec
