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

bool Stage::can_be_relieved() const {
  MutexLock lock(core_.mutex);
  const StageState& state = core_.state;
  const bool may_call =
      state.tokens.running < state.knobs.parallelism && !state.reservation.is_refused() && state.ring.has_ready();
  return core_.signs.waits_for_permit && (may_call || !state.folded.empty()) && state.goes_on();
}

void Stage::resume_after(const Stamp& last) { core_.body = std::make_unique<ResumeBody>(std::move(core_.body), last); }

// ------------------------------------------------------------------------------------------------ the end

// The engine has set its stop flag, so nothing new starts. Completions that are still out are cut off.
void Stage::stop() {
  std::vector<std::shared_ptr<AsyncTarget>> targets;
  {
    MutexLock lock(core_.mutex);
    for (const auto& group : core_.state.ring.groups()) {
      if (group->target) targets.push_back(group->target);
      group->want_back();
    }
  }
  for (auto& target : targets) target->detach();
  core_.wait_for_visitors();
}

// Destroyed on this thread, without the lock, since that runs users' code. Nothing is counted any more.
void Stage::let_go_of_slots() {
  Queue<Slots> waiting;
  std::vector<Slots> gone;
  MutexLock lock(core_.mutex);
  const auto& groups = core_.state.ring.groups();
  gone.reserve(2 * groups.size());  // what finds no room later would be destroyed with the lock held
  core_.state.inbox.let_go(waiting);
  for (const auto& group : groups) {
    if (group->state == Group::State::running) {
      gone.push_back(core_.state.parts.answers_of(*group));
    } else {
      gone.push_back(std::exchange(group->slots, {}));
      gone.push_back(std::exchange(group->folded.answers, {}));
    }
  }
}

// Elements and the op's state are users' code: destroyed on this thread, without the lock.
void Stage::clear() {
  Queue<Slots> waiting;
  Queue<std::unique_ptr<Group>> ring;
  Slots unwanted;
  std::unique_ptr<Body> body;
  {
    MutexLock lock(core_.mutex);
    core_.state.inbox.let_go(waiting);
    core_.state.inbox.swap_dropped(unwanted);
    core_.state.ring.let_go(ring);
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
      knobs.window = std::max(knobs.window, one);
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
