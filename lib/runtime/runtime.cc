#include "lib/runtime/runtime.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/core/clock.h"
#include "lib/core/cpu_mask.h"
#include "lib/runtime/forks.h"
#include "lib/runtime/local_ranks.h"
#include "lib/runtime/memory_warning.h"
#include "lib/runtime/stuck_calls.h"

namespace penstock::runtime {
namespace {

constexpr std::chrono::nanoseconds kTick(autotune::Policy::kPeriod), kCalmTick(autotune::Policy::kCalmPeriod);
// How old what the system allows may be, ns. A quota may change while runs go on, or while there is none.
constexpr std::int64_t kLimitsPeriod = 1'000'000'000;
constexpr std::int64_t kLimitsPeriodAtStart = 100'000'000;  // of a run
constexpr std::int64_t kClocksPeriod = 100'000'000;  // ns
constexpr std::int64_t kClocksPeriodPerThread = 1'000'000;  // ns: a reading takes 0.5 to 1 us for each thread
constexpr std::int64_t kPoolThreads = 256;
constexpr std::int64_t kSpareThreads = 1024;  // one for each run that would have none
constexpr std::int64_t kStarvedTime = 100'000'000;  // ns, before a run is lent a thread
constexpr std::int64_t kShortestReliefPatience = 10'000'000;  // ns
constexpr double kBusyShare = 0.02;  // of one core: less than a call gets on a crowded machine, more than calls that wait
constexpr int kNiceness = 10;

// Once: the environment may only be read while nobody changes it, and the controller's thread is at work whenever the user likes to.
int ranks_of_this_machine() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): see above
  const LocalRanks ranks = local_ranks([](const char* name) -> const char* { return std::getenv(name); });
  if (!ranks.warning.empty()) std::fprintf(stderr, "penstock: %s\n", ranks.warning.c_str());
  return ranks.count;
}

std::int64_t whole_slots(double cpus) { return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(cpus - 0.01))); }

// More threads than that make no more CPUs; fewer use fewer.
double used_by(int threads, double cpus) { return threads > 0 ? std::min<double>(threads, cpus) : cpus; }

}  // namespace

Runtime& Runtime::get() {
  // Never destroyed, on purpose: see the header.
  static Runtime& runtime = *std::unique_ptr<Runtime>(new Runtime()).release();
  if (process_number() != runtime.process_) {
    throw Error(ErrorCode::failed_precondition,
                "penstock was used in a forked child of a process that had used it before: its worker threads do not exist here. "
                "Start the child by exec, or fork before the first run");
  }
  return runtime;
}

Runtime::Runtime()
    : process_(process_number()),
      ranks_(ranks_of_this_machine()),
      share_(ranks_),
      gate_(whole_slots(share_.cpus(kLimitsPeriod))),
      pool_(kPoolThreads, kSpareThreads),
      controller_([this] { serve(); }) {}

std::int64_t Runtime::slots_for(int asked) {
  const std::int64_t offered = offered_slots(kLimitsPeriodAtStart);
  if (asked <= 0) return offered;
  std::lock_guard lock(mutex_);
  if (asked > offered && !std::exchange(warned_, true)) {
    std::fprintf(stderr, "penstock: %d threads were asked for, but this process has %lld CPUs; they are used all the same\n", asked,
                 static_cast<long long>(offered));
  }
  return asked;
}

double Runtime::cpus_for(int asked) { return used_by(asked, share_.cpus(kLimitsPeriodAtStart)); }

std::int64_t Runtime::default_memory() { return share_.memory(kLimitsPeriodAtStart); }

std::int64_t Runtime::offered_slots(std::int64_t oldest) {
  return whole_slots(share_.cpus(oldest));
}

void Runtime::look_after(const std::shared_ptr<exec::Engine>& engine, int asked_slots, std::unique_ptr<autotune::Policy> policy,
                         std::shared_ptr<Observer> observer) {
  Tuned tuned;
  tuned.engine = engine;
  tuned.asked_slots = asked_slots;
  tuned.observer = std::move(observer);
  tuned.claims = RunClaims(engine->open_io());
  tuned.policy = std::move(policy);
  if (tuned.policy) tuned.knobs = engine->knobs();
  {
    std::lock_guard lock(mutex_);
    added_.push_back(std::move(tuned));
  }
  changed_.notify_one();
}

void Runtime::dispose(std::function<void()> take_down) {
  {
    std::lock_guard lock(mutex_);
    disposed_.push_back(std::move(take_down));
  }
  changed_.notify_one();
}

// Not here: the function that gave its run up may last as long as it likes, and the other runs need this thread. What finds no thread
// waits for the next round.
void Runtime::take_down(Disposals& disposed) {
  while (!disposed.empty() && pool_.try_submit(disposed.front())) disposed.pop_front();
}

// The controller's thread: asleep while there is no run to look after.
void Runtime::serve() {
  take_mask_of_process();
  workers_.join(exec::WorkerThreads::Role::controller);
  std::vector<Tuned> tuned;
  Disposals gone;
  for (;;) {
    try {
      const bool is_new = take_news(tuned, gone);
      take_down(gone);
      look_at(tuned, is_new);
    } catch (const std::bad_alloc&) {  // there may be some at the next look
      std::this_thread::sleep_for(kTick);
    }
  }
}

// At the next look, or before it if there is any. Whether there is a new run.
bool Runtime::take_news(std::vector<Tuned>& tuned, Disposals& gone) {
  std::unique_lock lock(mutex_);
  const auto news = [this] { return !added_.empty() || !disposed_.empty(); };
  if (tuned.empty() && gone.empty()) {
    changed_.wait(lock, news);
  } else {
    changed_.wait_for(lock, std::ranges::all_of(tuned, &Tuned::is_calm) ? kCalmTick : kTick, news);
  }
  if (tuned.empty() && !added_.empty()) heap_trim_.begin();
  std::move(added_.begin(), added_.end(), std::back_inserter(tuned));
  const bool is_new = !added_.empty();
  added_.clear();
  gone.splice(gone.end(), disposed_);
  return is_new;
}

void Runtime::look_at(std::vector<Tuned>& tuned, bool is_new) {
  if (read_clocks() || is_new) divide(tuned);
  std::erase_if(tuned, [this](Tuned& each) { return !tick(each); });
  set_gate(tuned);
  set_niceness(tuned);
  trim_heap(tuned);
}

bool Runtime::tick(Tuned& tuned) {
  const auto engine = tuned.engine.lock();
  if (engine == nullptr) return false;
  if (engine->stopped()) {
    tuned.asked_slots = 0;
    tuned.is_calm = true;
    warn_of_stuck_calls(tuned, *engine);
    return true;
  }
  engine->look_after_calls();
  if (tuned.policy) engine->watch_calls();
  engine->nudge_consumer();
  engine->read_consumer_clock();
  exec::Surroundings surroundings = clocks_;
  surroundings.cpu_budget = tuned.cpu_share;
  surroundings.open_io_limit = std::max<std::int64_t>(static_cast<std::int64_t>(tuned.io_share), 1);
  engine->set_surroundings(surroundings);
  engine->snapshot(tuned.snapshot);
  const Snapshot& snapshot = tuned.snapshot;
  relieve(tuned, *engine);
  warn(tuned, snapshot);
  warn_of_stand_still(tuned, *engine);
  if (exec::Trace* trace = engine->trace()) trace->look(snapshot);
  if (tuned.policy) tuned.policy->tick(snapshot, tuned.knobs);
  tuned.is_calm = !tuned.policy || tuned.policy->is_calm(snapshot.time_ns);
  tuned.observer->see(snapshot, tuned.policy.get());
  return true;
}

// Also where calls of its own have all its slots and wait, for what the stages behind hold, say: then nothing moves while the consumer waits. Once that
// has been so, it is believed sooner.
void Runtime::relieve(Tuned& tuned, exec::Engine& engine) {
  const std::int64_t now = now_ns();
  const std::int64_t stands_for = tuned.stand_still.look(tuned.snapshot);
  const bool is_long = stands_for > 0 && uses_cpu(tuned, tuned.snapshot.time_ns - stands_for);
  if (stands_for >= (is_long ? StandStill::kPatience : tuned.relief_patience)) {
    tuned.relief_patience = std::max(tuned.relief_patience / 2, kShortestReliefPatience);
    return engine.relieve(true);
  }
  if (!engine.is_starved()) return tuned.starved_since.reset();
  if (!tuned.starved_since) tuned.starved_since = now;
  if (now - *tuned.starved_since >= kStarvedTime) engine.relieve();
}

// Whether calls have used the CPU since nothing moves: then they are merely long, and end by themselves. Of several runs nobody can say whose CPU time
// it was.
bool Runtime::uses_cpu(Tuned& tuned, std::int64_t stands_since) const {
  if (clocks_.runs != 1) return false;
  const std::int64_t now = now_ns(), cpu_ns = workers_.cpu_ns(exec::WorkerThreads::Role::worker);
  if (std::exchange(tuned.stands_since, stands_since) != stands_since) {
    tuned.looked_at = now;
    tuned.cpu_then = cpu_ns;
  }
  return static_cast<double>(cpu_ns - tuned.cpu_then) > kBusyShare * static_cast<double>(now - tuned.looked_at);
}

void Runtime::warn(Tuned& tuned, const Snapshot& snapshot) {
  for (const StageSnapshot& stage : snapshot.stages) {
    const std::string text = stage.unseen_type.empty() || !unseen_types_.insert(stage.unseen_type).second ? "" : unseen_memory_warning(stage);
    if (!text.empty()) std::fprintf(stderr, "penstock: %s\n", text.c_str());
  }
  if (tuned.warned) return;
  const std::string text = memory_warning(snapshot);
  tuned.warned = !text.empty();
  if (tuned.warned) std::fprintf(stderr, "penstock: %s\n", text.c_str());
}

// Once on stderr; explain() tells it for as long as it lasts.
void Runtime::warn_of_stand_still(Tuned& tuned, const exec::Engine& engine) {
  const std::int64_t since = tuned.stand_still.since_ns(tuned.snapshot);
  const bool stands = since >= StandStill::kPatience;
  const std::string text = stands ? stand_still_text(tuned.snapshot, engine.plan(), since) : std::string();
  if (tuned.stand_still.is_news(since)) std::fprintf(stderr, "penstock: %s\n", text.c_str());
  tuned.observer->stands_still(text);
}

// Again after twice the time, for as long as it lasts.
void Runtime::warn_of_stuck_calls(Tuned& tuned, const exec::Engine& engine) {
  const auto now = std::chrono::steady_clock::now();
  if (tuned.patient_until == std::chrono::steady_clock::time_point()) tuned.patient_until = now + tuned.patience;
  if (now < tuned.patient_until) return;
  tuned.patience *= 2;
  tuned.patient_until = now + tuned.patience;
  std::fputs(stuck_calls(engine.snapshot(), engine.plan()).c_str(), stderr);
}

// Not every time: true if it was due.
bool Runtime::read_clocks() {
  const std::int64_t now = now_ns();
  const std::int64_t age = now - clocks_.clocks_read_at;  // long, where they have not been read yet
  if (age < kClocksPeriod || age < kClocksPeriodPerThread * workers_.count()) return false;
  clocks_.clocks_read_at = now;
  clocks_.process_cpu_ns = process_cpu_ns();
  clocks_.workers_cpu_ns = workers_.cpu_ns();
  return true;
}

// Runs that have ended claim nothing, and calls of theirs that have not returned are not waited for. What a run has used is what the last
// tick saw.
void Runtime::divide(std::vector<Tuned>& tuned) {
  const double all_cpus = share_.cpus(kLimitsPeriod);
  Claims cpus, calls;
  clocks_.runs = 0;
  for (Tuned& each : tuned) {
    const auto engine = each.engine.lock();
    const bool lives = engine != nullptr && !engine->stopped();
    if (lives) each.claims.look(each.snapshot, std::min(static_cast<double>(engine->cpu_slots()), all_cpus));
    clocks_.runs += lives;
    cpus.push_back(lives ? each.claims.cpus() : Claim());
    calls.push_back(lives ? each.claims.blocking_calls() : Claim());
  }
  const Shares cpu_shares = shares_of(all_cpus, cpus);
  const Shares call_shares = shares_of(static_cast<double>(kPoolThreads) / ranks_, calls);
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    tuned[i].cpu_share = cpu_shares[i];
    tuned[i].io_share = call_shares[i];
  }
}

// A number that the user of a live run has asked for stands, whatever is offered. The controller's thread alone sets the gate, so
// that no older number overtakes a newer one; without the lock, because the gate calls the runs that wait for slots.
void Runtime::set_gate(const std::vector<Tuned>& tuned) {
  std::int64_t slots = offered_slots(kLimitsPeriod);
  for (const Tuned& each : tuned) slots = std::max<std::int64_t>(slots, each.asked_slots);
  if (slots != gate_.slots()) gate_.set_slots(slots);
}

// Threads are shared: one run that does not wish its workers to give way is enough.
void Runtime::set_niceness(const std::vector<Tuned>& tuned) {
  int live = 0, giving_way = 0;
  for (const Tuned& each : tuned) {
    const auto engine = each.engine.lock();
    if (engine == nullptr || engine->stopped()) continue;
    ++live;
    giving_way += engine->gives_way();
  }
  const bool all_give_way = live > 0 && giving_way == live;
  if (std::exchange(give_way_, all_give_way) != all_give_way) workers_.set_niceness(all_give_way ? kNiceness : 0);
}

// By the last ticks' books.
void Runtime::trim_heap(const std::vector<Tuned>& tuned) {
  std::int64_t used = 0, limit = std::numeric_limits<std::int64_t>::max();
  for (const Tuned& each : tuned) {
    used += each.snapshot.memory_used;
    limit = std::min(limit, each.snapshot.memory_limit);
  }
  if (!tuned.empty()) heap_trim_.look(now_ns(), used, limit);
}

}  // namespace penstock::runtime
