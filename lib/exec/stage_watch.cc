// Stage: calls under way as seen from outside, where nobody has said whether they wait.
//
// The samples of calls that have ended (stage_run.cc) do not tell of one that waits for hours, nor of the one among many that does.
#include <penstock/random.h>

#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kPatience = 100'000'000, kMostPatience = 1'000'000'000;  // ns
constexpr std::int64_t kShortCall = 2'000'000;  // ns: what ends sooner keeps nobody waiting for long, and is not worth a look at a file

bool is_under_way(const Group& group) { return group.state == Group::State::running && group.thread != 0; }

}  // namespace

// One call a look: looks come at moments that have nothing to do with the calls, so what part of them find a call asleep is what part of their time
// calls wait, also where they wake often.
void Stage::watch_calls() {
  if (plan_.form_is_known || plan_.form == Form::completes_later) return;
  MutexLock lock(mutex_);
  const Group* const call = draw_call();
  if (call == nullptr) return;
  const bool is_short = machine_.now() - call->started_ns < kShortCall;
  const bool is_asleep = !is_short && sleeps(call->thread);
  ++counters_.looks;
  counters_.looks_asleep += is_asleep;
}

// One more call than so far, though none of the first has told what their results hold: they may wait for each other. Only the oldest is looked at, for
// those that have just begun may well sleep while it works. Calls that compute rarely wait, so those get more time: of lists of 112 MB that took 130 ms
// each, two had begun in twice the memory. And one, not twice as many: of calls that slept 0.6 s and gave 40 MB, 64 had begun below 64 MiB.
void Stage::let_more_begin() {
  const std::int64_t waited = machine_.now() - more_began_ns_;
  const Group* const call = oldest_call();
  if (call == nullptr || waited < kPatience) return;
  if (waited < kMostPatience && !sleeps(call->thread)) return;
  ++first_calls_;
  more_began_ns_ = machine_.now();
}

bool Stage::sleeps(int thread) const {
  const MutexUnlock unlock(mutex_);
  return machine_.sleeps(thread);
}

// Null: there is none.
const Group* Stage::oldest_call() const {
  for (const auto& group : ring_) {
    if (is_under_way(*group)) return group.get();
  }
  return nullptr;
}

// One of the calls under way, each as likely as another; null: there is none.
const Group* Stage::draw_call() const {
  if (running_ == 0) return nullptr;
  auto before = static_cast<std::int64_t>(mix64(static_cast<std::uint64_t>(counters_.looks)) % static_cast<std::uint64_t>(running_));
  for (const auto& group : ring_) {
    if (is_under_way(*group) && before-- == 0) return group.get();
  }
  return nullptr;
}

}  // namespace penstock::exec
