// SlotGate: the CPU slots of the process. Every compute token of every run holds one while it runs.
//
// A gate of our own, because the number moves (a cgroup's quota, a trainer that needs its cores) while a task arena's size cannot. A
// stage that finds no free slot registers and leaves its thread; a slot that becomes free is offered to the most downstream
// stage first, since that is where elements leave and memory becomes free.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock::exec {

class SlotGate {
 public:
  // Somebody who waits for a slot. Held weakly: a run that ends does not have to sign off.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual void slot_is_free(std::size_t stage) = 0;  // take one by acquire(), or leave it
  };

  explicit SlotGate(std::int64_t slots) : slots_(slots) {}

  // A slot, or false: then slot_is_free(stage) will be called once. Stages further down the chain have higher numbers.
  bool acquire(const std::weak_ptr<Waiter>& waiter, std::size_t stage);

  // Whether this stage should give its slot back: there are fewer than before, or somebody waits who goes before it: a stage further
  // down the chain, one of the first `feeders` stages, or another run.
  bool is_wanted_before(const std::weak_ptr<Waiter>& waiter, std::size_t stage, std::size_t feeders) const;

  // Gives one back. May call slot_is_free() of any run: hold no lock.
  void release();

  void set_slots(std::int64_t slots);
  std::int64_t slots() const;
  std::int64_t in_use() const;

 private:
  struct Entry {
    std::weak_ptr<Waiter> waiter;
    std::size_t stage;
  };
  bool take_waiter(Entry& entry);
  void offer_free_slots();

  mutable std::mutex mutex_;  // all below; never held across a call out
  std::int64_t slots_;
  std::int64_t in_use_ = 0;
  std::vector<Entry> waiters_;
};

}  // namespace penstock::exec
