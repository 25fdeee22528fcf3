// SlotGate: the CPU slots of the process. Every compute token of every run holds one while it runs.
//
// A gate of our own, because the number moves (a cgroup's quota, a trainer that needs its cores) while a task arena's size cannot. A
// stage that finds no free slot registers and leaves its thread. A slot that becomes free is offered to the run that has waited longest,
// and there to the stage of the highest rank: see Engine::cpu_rank().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/exec/brief_mutex.h"

namespace penstock::exec {

class SlotGate {
 public:
  // Somebody who waits for a slot. Held weakly: a run that ends does not have to sign off.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void slot_is_free(std::size_t stage) = 0;  // take one by acquire(), or leave it
  };
  using Run = std::weak_ptr<Waiter>;

  explicit SlotGate(std::int64_t slots) : slots_(slots) {}

  // A slot, or false: then slot_is_free(stage) will be called once.
  bool acquire(const Run& run, std::size_t stage, std::size_t rank);

  // Whether a stage should give its slot back: there are fewer than before, or another run or a stage of higher rank waits.
  bool is_wanted_before(const Run& run, std::size_t rank) const;

  // Gives one back. May call slot_is_free() of any run: hold no lock.
  void release();

  void set_slots(std::int64_t slots);
  std::int64_t slots() const noexcept { return slots_.load(std::memory_order_relaxed); }
  std::int64_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
  bool has_free_slot() const noexcept { return in_use() < slots(); }

 private:
  struct Entry {
    Run run;
    std::size_t stage;
    std::size_t rank;
  };
  bool take_waiter(Entry& entry);
  void offer_free_slots();

  mutable BriefMutex mutex_;  // all below; never held across a call out. The two numbers are written under it, and read without
  std::atomic<std::int64_t> slots_;
  std::atomic<std::int64_t> in_use_{0};
  std::vector<Entry> waiters_;  // who has waited longest comes first
};

}  // namespace penstock::exec
