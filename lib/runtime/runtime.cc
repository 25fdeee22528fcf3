#include "lib/runtime/runtime.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include <penstock/error.h>
#include <penstock/world.h>

#include "lib/runtime/forks.h"
#include "lib/runtime/memory_warning.h"
#include "lib/runtime/stuck_calls.h"

namespace penstock::runtime {
namespace {

constexpr auto kTick = std::chrono::milliseconds(10);
constexpr auto kLimitsPeriod = std::chrono::seconds(1);
constexpr std::int64_t kPoolThreads = 256;

std::int64_t whole_slots(const CpuLimits& limits) {
  const double cpus = limits.for_rank(World::detect().local_size);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(cpus - 0.01)));
}

std::int64_t quarter_of_memory(const MemoryLimits& limits) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 4);
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(limits.bytes() / 4, std::uint64_t{64} << 20, most));
}

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
      gate_(whole_slots(host_.cpus())),
      pool_(kPoolThreads),
      offered_slots_(gate_.slots()),
      memory_(quarter_of_memory(host_.memory())),
      controller_([this] { serve(); }) {
  std::lock_guard lock(mutex_);
  threads_.ensure(offered_slots_);
}

std::int64_t Runtime::slots_for(int asked) {
  std::lock_guard lock(mutex_);
  if (asked <= 0) return offered_slots_;
  if (asked > offered_slots_ && !std::exchange(warned_, true)) {
    std::fprintf(stderr, "penstock: %d threads were asked for, but this process has %lld CPUs; they are used all the same\n", asked,
                 static_cast<long long>(offered_slots_));
  }
  threads_.ensure(asked);
  return asked;
}

std::int64_t Runtime::default_memory() {
  std::lock_guard lock(mutex_);
  return memory_;
}

void Runtime::look_after(const std::shared_ptr<exec::Engine>& engine, int asked_slots, bool tune) {
  Tuned tuned;
  tuned.engine = engine;
  tuned.asked_slots = asked_slots;
  if (tune) {
    tuned.policy = autotune::default_policy();
    tuned.knobs = engine->knobs();
  }
  {
    std::lock_guard lock(mutex_);
    added_.push_back(std::move(tuned));
  }
  changed_.notify_one();
}

void Runtime::dispose(std::shared_ptr<exec::Engine> engine) {
  {
    std::lock_guard lock(mutex_);
    disposed_.push_back(std::move(engine));
  }
  changed_.notify_one();
}

// Not here: the function that gave its run up may last as long as it likes, and the other runs need this thread.
void Runtime::take_down(Engines& engines) {
  for (auto& engine : engines) {
    pool_.submit([engine = std::move(engine)] { engine->shut_down(); });
  }
  engines.clear();
}

// The controller's thread: asleep while there is no run to look after.
void Runtime::serve() {
  std::vector<Tuned> tuned;
  auto limits_due = std::chrono::steady_clock::now() + kLimitsPeriod;
  for (;;) {
    Engines gone;
    {
      std::unique_lock lock(mutex_);
      const auto news = [this] { return !added_.empty() || !disposed_.empty(); };
      if (tuned.empty()) {
        changed_.wait(lock, news);
      } else {
        changed_.wait_for(lock, kTick, news);
      }
      std::move(added_.begin(), added_.end(), std::back_inserter(tuned));
      added_.clear();
      gone.swap(disposed_);
    }
    take_down(gone);
    std::erase_if(tuned, [this](Tuned& each) { return !tick(each); });
    if (std::chrono::steady_clock::now() > limits_due) {
      read_limits();
      limits_due = std::chrono::steady_clock::now() + kLimitsPeriod;
    }
    set_gate(tuned);
  }
}

bool Runtime::tick(Tuned& tuned) {
  const auto engine = tuned.engine.lock();
  if (engine == nullptr) return false;
  if (engine->stopped()) {
    tuned.asked_slots = 0;
    warn_of_stuck_calls(tuned, *engine);
    return true;
  }
  engine->nudge_consumer();
  const Snapshot snapshot = engine->snapshot();
  warn(tuned, snapshot);
  if (tuned.policy) tuned.policy->tick(snapshot, tuned.knobs);
  return true;
}

void Runtime::warn(Tuned& tuned, const Snapshot& snapshot) {
  if (tuned.warned) return;
  const std::string text = memory_warning(snapshot);
  tuned.warned = !text.empty();
  if (tuned.warned) std::fprintf(stderr, "penstock: %s\n", text.c_str());
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

// A quota may change while the process runs.
void Runtime::read_limits() {
  const std::int64_t slots = whole_slots(host_.cpus());
  const std::int64_t memory = quarter_of_memory(host_.memory());
  std::lock_guard lock(mutex_);
  offered_slots_ = slots;
  memory_ = memory;
  threads_.ensure(slots);
}

// A number that the user of a live run has asked for stands, whatever is offered. The controller's thread alone sets the gate, so
// that no older number overtakes a newer one; without the lock, because the gate calls the runs that wait for slots.
void Runtime::set_gate(const std::vector<Tuned>& tuned) {
  std::int64_t slots = slots_for(0);
  for (const Tuned& each : tuned) slots = std::max(slots, each.asked_slots);
  if (slots != gate_.slots()) gate_.set_slots(slots);
}

}  // namespace penstock::runtime
