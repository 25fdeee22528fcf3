// Runner: calls under way as seen from outside, where nobody has said whether they wait.
//
// The samples of calls that have ended (Meter) do not tell of one that waits for hours, nor of the one among many that
// does.
#include <penstock/random.h>

#include "lib/exec/runner.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kPatience = 100'000'000, kMostPatience = 1'000'000'000;  // ns
constexpr std::int64_t kShortCall =
    2'000'000;  // ns: what ends sooner keeps nobody waiting for long, and is not worth a look at a file

bool is_under_way(const Group& group) { return group.state == Group::State::running && group.start.thread != 0; }

// Null: there is none.
const Group* oldest_call(const Ring& ring) {
  for (const auto& group : ring.groups()) {
    if (is_under_way(*group)) return group.get();
  }
  return nullptr;
}

// One of so many calls under way, each as likely as another; null: there is none.
const Group* draw_call(const Ring& ring, std::int64_t running, std::int64_t looks) {
  if (running == 0) return nullptr;
  auto before =
      static_cast<std::int64_t>(mix64(static_cast<std::uint64_t>(looks)) % static_cast<std::uint64_t>(running));
  for (const auto& group : ring.groups()) {
    if (is_under_way(*group) && before-- == 0) return group.get();
  }
  return nullptr;
}

}  // namespace

// One call a look: looks come at moments that have nothing to do with the calls, so what part of them find a call
// asleep is what part of their time calls wait, also where they wake often.
void Runner::watch_calls() {
  if (core_.traits.plan.form_is_known || core_.traits.plan.form == Form::completes_later) return;
  MutexLock lock(core_.mutex);
  StageSnapshot& counters = core_.state.meter.counters;
  const Group* const call = draw_call(core_.state.ring, core_.state.tokens.running, counters.looks);
  if (call == nullptr) return;
  const bool is_short = core_.traits.machine.now() - call->start.ns < kShortCall;
  const bool is_asleep = !is_short && sleeps(call->start.thread);
  ++counters.looks;
  counters.looks_asleep += is_asleep;
}

// One more call than so far, though none of the first has told what their results hold: they may wait for each other.
// Only the oldest is looked at, for those that have just begun may well sleep while it works. Calls that compute rarely
// wait, so those get more time: of lists of 112 MB that took 130 ms each, two had begun in twice the memory. And one,
// not twice as many: of calls that slept 0.6 s and gave 40 MB, 64 had begun below 64 MiB.
void Runner::let_more_begin() {
  FirstCalls& first_calls = core_.state.first_calls;
  const std::int64_t waited = first_calls.lasted(core_.traits.machine.now());
  const Group* const call = oldest_call(core_.state.ring);
  if (call == nullptr || waited < kPatience) return;
  if (waited < kMostPatience && !sleeps(call->start.thread)) return;
  if (first_calls.lasted(core_.traits.machine.now()) < kPatience) return;  // another thread has seen it meanwhile
  first_calls.one_more(core_.traits.machine.now());
}

bool Runner::sleeps(int thread) const {
  const MutexUnlock unlock(core_.mutex);
  return core_.traits.machine.sleeps(thread);
}

}  // namespace penstock::exec
