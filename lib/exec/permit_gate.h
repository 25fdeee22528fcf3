// PermitGate: the CPU permits of the process, which users know as CPU slots. Every compute token of every run holds one
// while it runs.
//
// A gate of our own, because the number moves (a cgroup's quota, a trainer that needs its cores) while a task arena's
// size cannot. A stage that finds no free permit registers and leaves its thread. A permit that becomes free is offered
// to the run that has waited longest, and there to the stage of the highest rank: see EngineHost::cpu_rank().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/core/cache_line.h"
#include "lib/exec/brief_mutex.h"

namespace penstock::exec {

class PermitGate {
 public:
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void permit_is_free(std::size_t stage) = 0;  // take one by acquire(), or leave it
  };

  // One run at the gate. It is known by this object, and held weakly: while it waits it may end.
  class Run {
   public:
    // `most`: permits that it may hold at once, as set_most() has it.
    Run(std::weak_ptr<Waiter> waiter, std::int64_t most) : waiter_(std::move(waiter)), most_(most) {}
    std::int64_t most() const noexcept { return most_.load(std::memory_order_relaxed); }
    std::int64_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }

   private:
    friend class PermitGate;
    bool has_room() const noexcept { return in_use() < most(); }
    std::int64_t on_loan() const noexcept { return std::min(in_use(), lent_.load(std::memory_order_relaxed)); }
    bool may_borrow() const noexcept { return in_use() < lent_.load(std::memory_order_relaxed); }

    const std::weak_ptr<Waiter> waiter_;
    std::atomic<std::int64_t> most_;       // these three: written under the gate's mutex
    std::atomic<std::int64_t> in_use_{0};  // those on loan among them
    std::atomic<std::int64_t> lent_{0};    // to it, by calls that wait for its elements
  };
  using RunRef = std::shared_ptr<Run>;

  // While a call of another run waits for an element of this one: it needs no core, and so there is a permit more, for
  // this run alone. All others may be with calls that wait so, or wait for those.
  //
  // Such a call does not work for the run instead: it might get the call of a later element, which waits for what an
  // element holds that has come meanwhile, a buffer of a user's pool, say.
  class Loan {
   public:
    Loan(PermitGate& gate, const RunRef& run) : gate_(gate), run_(run) { gate_.lend(run_, 1); }
    ~Loan() { gate_.lend(run_, -1); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    PermitGate& gate_;
    const RunRef& run_;
  };

  explicit PermitGate(std::int64_t permits) : permits_(permits) {}

  // A permit, or false: then permit_is_free(stage) will be called once.
  bool acquire(const RunRef& run, std::size_t stage, std::size_t rank) EXCLUDES(mutex_);

  // Whether a stage should give its permit back: there are fewer than before, of all or for its run, or another run or
  // a stage of higher rank waits.
  bool is_wanted_before(const RunRef& run, std::size_t rank) const EXCLUDES(mutex_);

  // Gives a permit back. May call permit_is_free() of any run: hold no lock.
  void release(const RunRef& run) EXCLUDES(mutex_);

  void set_permits(std::int64_t permits) EXCLUDES(mutex_);
  // At least 1. A run that holds more gives them back as soon as its calls end.
  void set_most(const RunRef& run, std::int64_t most) EXCLUDES(mutex_);
  std::int64_t permits() const noexcept { return permits_.load(std::memory_order_relaxed); }
  std::int64_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }  // without those on loan
  // A guess: it may be gone in the next moment.
  bool has_free_permit(const Run& run) const noexcept {
    return run.has_room() && (run.may_borrow() || in_use() < permits());
  }

 private:
  struct Entry {
    RunRef run;
    std::size_t stage;
    std::size_t rank;
  };
  void lend(const RunRef& run, std::int64_t permits) EXCLUDES(mutex_);  // more than so far
  void change(Run& run, std::int64_t in_use, std::int64_t lent) REQUIRES(mutex_);
  bool take_waiter(Entry& entry) EXCLUDES(mutex_);
  void offer_free_permits() EXCLUDES(mutex_);

  // never held across a call out. The atomics below are written under it, and read without
  alignas(kCacheLine) mutable BriefMutex mutex_;
  std::atomic<std::int64_t> permits_;
  std::atomic<std::int64_t> in_use_{0};
  std::atomic<std::size_t> waiting_{0};            // waiters_.size()
  std::vector<Entry> waiters_ GUARDED_BY(mutex_);  // whose run has waited longest comes first
};

}  // namespace penstock::exec
