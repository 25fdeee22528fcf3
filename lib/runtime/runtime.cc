#include "lib/runtime/runtime.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/core/clock.h"
#include "lib/core/cpu_mask.h"
#include "lib/exec/tbb_launcher.h"
#include "lib/runtime/forks.h"
#include "lib/runtime/local_ranks.h"

namespace penstock::runtime {
namespace {

constexpr std::chrono::nanoseconds kTick(autotune::Policy::kPeriod), kCalmTick(autotune::Policy::kCalmPeriod);
// Of hundreds of stages a look takes milliseconds: the thread rests for so many times as long, but no longer than that.
constexpr std::int64_t kRest = 10;
constexpr std::chrono::milliseconds kLongestRest(100);
// How old what the system allows may be, ns. A quota may change while runs go on, or while there is none.
constexpr std::int64_t kLimitsPeriod = 1'000'000'000;
constexpr std::int64_t kLimitsPeriodAtStart = 100'000'000;  // of a run
constexpr std::int64_t kClocksPeriod = 100'000'000;         // ns
constexpr std::int64_t kClocksPeriodPerThread = 1'000'000;  // ns: a reading takes 0.5 to 1 us for each thread
constexpr std::int64_t kPoolThreads = 256;
constexpr std::int64_t kSpareThreads = 1024;  // one for each run that would have none
constexpr int kNiceness = 10;

// Once: the environment may only be read while nobody changes it, and the controller's thread is at work whenever the
// user likes to.
int ranks_of_this_machine() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): see above
  const LocalRanks ranks = local_ranks([](const char* name) -> const char* { return std::getenv(name); });
  if (!ranks.warning.empty()) std::fprintf(stderr, "penstock: %s\n", ranks.warning.c_str());
  return ranks.count;
}

std::int64_t whole_permits(double cpus) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(cpus - 0.01)));
}

// More threads than that make no more CPUs; fewer use fewer.
double used_by(int threads, double cpus) { return threads > 0 ? std::min<double>(threads, cpus) : cpus; }

}  // namespace

Runtime& Runtime::get() {
  // Never destroyed, on purpose: see the header.
  static Runtime& runtime = *std::unique_ptr<Runtime>(new Runtime()).release();
  if (process_number() != runtime.process_) {
    throw Error(ErrorCode::failed_precondition,
                "penstock was used in a forked child of a process that had used it before: its worker threads do not "
                "exist here. Start the child by exec, or fork before the first run");
  }
  return runtime;
}

Runtime::Runtime()
    : process_(process_number()),
      ranks_(ranks_of_this_machine()),
      share_(ranks_),
      gate_(whole_permits(share_.cpus(kLimitsPeriod))),
      pool_(kPoolThreads, kSpareThreads),
      controller_([this] { serve(); }) {}

std::int64_t Runtime::permits_for(int asked) {
  const std::int64_t offered = offered_permits(kLimitsPeriodAtStart);
  if (asked <= 0) return offered;
  MutexLock lock(mutex_);
  if (asked > offered && !std::exchange(warned_, true)) {
    std::fprintf(stderr,
                 "penstock: %d threads were asked for, but this process has %lld CPUs; they are used all the same\n",
                 asked, static_cast<long long>(offered));
  }
  return asked;
}

std::unique_ptr<exec::Launcher> Runtime::make_launcher(std::int64_t permits) {
  return std::make_unique<exec::TbbLauncher>(permits, compute_, pool_, workers_);
}

double Runtime::cpus_for(int asked) { return used_by(asked, share_.cpus(kLimitsPeriodAtStart)); }

std::int64_t Runtime::default_memory() { return share_.memory(kLimitsPeriodAtStart); }

std::int64_t Runtime::offered_permits(std::int64_t oldest) { return whole_permits(share_.cpus(oldest)); }

void Runtime::look_after(const std::shared_ptr<exec::Engine>& engine, int asked_permits,
                         std::unique_ptr<autotune::Policy> policy, std::shared_ptr<Observer> observer) {
  Attendant attendant(*this, engine, asked_permits, std::move(policy), std::move(observer));
  {
    MutexLock lock(mutex_);
    added_.push_back(std::move(attendant));
  }
  changed_.notify_one();
}

void Runtime::look_after(const std::shared_ptr<exec::NestedRun>& run) {
  MutexLock lock(mutex_);
  nested_.push_back(run);  // the next look will do: there is a run whose call that is
}

void Runtime::look_at_nested() {
  std::vector<std::shared_ptr<exec::NestedRun>> runs;
  {
    MutexLock lock(mutex_);
    std::erase_if(nested_, [](const auto& run) { return run->is_over(); });
    runs = nested_;
  }
  for (const auto& run : runs) {
    const auto engine = run->take_unwanted();
    if (!engine) continue;
    try {
      Disposals give_up;
      give_up.emplace_back([run, engine] { run->give_up(*engine); });
      dispose(std::move(give_up));
    } catch (const std::bad_alloc&) {
      run->put_back();  // for the next look
      throw;
    }
  }
}

void Runtime::dispose(Disposals take_down) noexcept {
  {
    MutexLock lock(mutex_);
    disposed_.splice(disposed_.end(), take_down);
  }
  changed_.notify_one();
}

// Not here: the function that gave its run up, or one that a stop token calls, may last as long as it likes, and the
// other runs need this thread. What finds no thread waits for the next round.
void Runtime::take_down(Disposals& disposed) {
  while (!disposed.empty() && pool_.try_submit(disposed.front())) disposed.pop_front();
}

// The controller's thread: asleep while there is no run to look after.
void Runtime::serve() {
  take_mask_of_process();
  workers_.join(exec::WorkerThreads::Role::controller);
  Disposals gone;
  for (;;) {
    try {
      const bool is_new = take_news(gone);
      take_down(gone);
      look(is_new);
    } catch (const std::bad_alloc&) {  // there may be some at the next look
      std::this_thread::sleep_for(kTick);
    }
  }
}

// At the next look, or before it if there is any. Whether there is a new run.
bool Runtime::take_news(Disposals& gone) {
  MutexLock lock(mutex_);
  const auto news = [this]() REQUIRES(mutex_) { return !added_.empty() || !disposed_.empty(); };
  if (attendants_.empty() && gone.empty()) {
    while (!news()) changed_.wait(mutex_);
  } else {
    const auto rest = std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(kRest * last_look_ns_), kLongestRest);
    changed_.wait_for(mutex_, std::max(attendants_.is_calm() ? kCalmTick : kTick, rest), news);
  }
  if (attendants_.empty() && !added_.empty()) heap_trim_.begin();
  const bool is_new = !added_.empty();
  attendants_.add(added_);
  gone.splice(gone.end(), disposed_);
  return is_new;
}

void Runtime::look(bool is_new) {
  if (read_clocks() || is_new) divide();
  const std::int64_t begin = thread_cpu_ns();
  attendants_.look(clocks_);
  last_look_ns_ = thread_cpu_ns() - begin;
  look_at_nested();
  set_gate();
  set_niceness();
  if (!attendants_.empty()) heap_trim_.look(now(), attendants_.memory_used(), attendants_.least_memory_limit());
}

std::int64_t Runtime::now() const { return now_ns(); }

void Runtime::tell(const std::string& text) { std::fprintf(stderr, "penstock: %s\n", text.c_str()); }

void Runtime::tell_of_type(const std::string& type, const std::string& text) {
  if (types_.insert(type).second) tell(text);
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

void Runtime::divide() {
  clocks_.runs = attendants_.divide(share_.cpus(kLimitsPeriod), static_cast<double>(kPoolThreads) / ranks_);
}

// A number that the user of a live run has asked for stands, whatever is offered. The controller's thread alone sets
// the gate, so that no older number overtakes a newer one; without the lock, because the gate calls the runs that wait
// for permits.
void Runtime::set_gate() {
  const std::int64_t permits = std::max(offered_permits(kLimitsPeriod), attendants_.asked_permits());
  if (permits != gate_.permits()) gate_.set_permits(permits);
}

void Runtime::set_niceness() {
  const bool give_way = attendants_.all_give_way();
  if (std::exchange(give_way_, give_way) != give_way) workers_.set_niceness(give_way ? kNiceness : 0);
}

}  // namespace penstock::runtime
