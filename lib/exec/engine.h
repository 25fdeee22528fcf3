// Engine: one execution of a plan: the stages, their outlet, the memory they share, and the launcher that runs them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "lib/base/mutex.h"
#include "lib/core/machine.h"
#include "lib/exec/body_scope.h"
#include "lib/exec/launcher.h"
#include "lib/exec/outlet.h"
#include "lib/exec/pass_control.h"
#include "lib/exec/slot_gate.h"
#include "lib/exec/stage.h"

namespace penstock::exec {

struct EngineSettings {
  std::int64_t memory_bytes = 0;
  std::int64_t slots = 1;              // workers of the arena
  bool slots_are_fixed = false;        // by the user
  std::uint32_t first_epoch = 0;
  std::uint32_t epochs = 0;
  std::uint64_t first_sequence = 0;    // of passes; for tests
  std::uint64_t seed = 0;
  std::uint32_t pass = 0;              // of an outer run, that passes are numbered from
  const Stamp* resume_after = nullptr; // by position; read during construction only
  SlotGate* gate = nullptr;            // none: no limit (serial executor, tests)
  bool has_priority = false;           // the knob `priority` is there
  bool niceness_is_reversible = false; // and may be moved: workers may be less urgent than the consumer
  const Machine* machine = &system_machine();
  std::int64_t open_io = 64;           // blocking calls at once
  double cpu_budget = 1;               // CPUs, until somebody tells more by set_surroundings()
  bool statistics = true;              // false: only what the engine needs itself, to see what the rest costs
  std::shared_ptr<Trace> trace;        // none: nobody wants one
};

// What the rest of the process leaves to a run, and what all its threads have used; see Snapshot.
struct Surroundings {
  double cpu_budget = 1;
  std::int64_t open_io_limit = 64;
  std::int64_t runs = 1;
  std::int64_t process_cpu_ns = -1;
  std::int64_t workers_cpu_ns = -1;
  std::int64_t clocks_read_at = -1;    // by Machine::now()
};

// Comes down when what holds it is destroyed.
class Farewell {
 public:
  Farewell() = default;
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() { latch_->count_down(); }
  std::shared_ptr<const std::latch> latch() const noexcept { return latch_; }

 private:
  const std::shared_ptr<std::latch> latch_ = std::make_shared<std::latch>(1);
};

class Engine : public StageHost, public SlotGate::Waiter, public std::enable_shared_from_this<Engine> {
 public:
  static std::shared_ptr<Engine> make(std::shared_ptr<const Plan> plan, const EngineSettings& settings, std::unique_ptr<Launcher> launcher);
  ~Engine() override;

  // Stops and waits for the calls in flight. Afterwards nothing of the run is left but counters. May be called twice.
  void shut_down();
  void request_stop();                           // without waiting

  enum class Taken : std::uint8_t { slot, timeout };
  // The next slot of any kind. Throws Error(failed_precondition) inside a body of this engine.
  Taken next(Slot& slot, std::int64_t deadline = kNever);  // a moment of the machine
  void begin_epoch(std::uint32_t epoch, std::uint32_t epochs);  // after the last one has ended
  // Gives up what is left of the current epoch and of those that were read ahead. Returns when all of it is gone.
  void abandon_epoch();

  bool look_after_calls();                       // now and then: see Stage. True: something could leave
  void watch_calls() { for (auto& stage : stages_) stage->watch_calls(); }  // now and then: see Stage
  void nudge_consumer() { outlet_.nudge(); }     // now and then
  void read_consumer_clock() noexcept { outlet_.read_consumer_clock(); }  // the same
  bool is_starved() const;                       // its stages wait for CPU slots, and none of its calls has any
  // Lends the run a thread without a slot for as long as it is starved. Where that has lasted, calls of other runs may have all
  // slots and be waiting for this very run, on threads of their own where nobody sees it. Does nothing where no thread is to be
  // had: ask again.
  // once_more: though it has been lent one that has not come back. That may wait, too, for what other stages hold.
  void relieve(bool once_more = false);
  void set_surroundings(const Surroundings& surroundings) EXCLUDES(surroundings_mutex_);
  bool gives_way() const noexcept { return gives_way_.load(std::memory_order_relaxed); }  // the knob `priority`
  std::vector<Knob> knobs();
  Snapshot snapshot() const;
  void snapshot(Snapshot& out) const EXCLUDES(surroundings_mutex_);  // into one that is there already: allocates nothing from the second time on
  // Whether the pass to go on in has ended without the element to go on behind. True before its mark reaches the consumer.
  bool has_missed_resumption() const noexcept;
  std::int64_t dropped() const noexcept;         // errors that ops have left out for good
  bool inside_own_body() const noexcept { return BodyScope::inside(this); }
  void refuse_own_body(const char* caller) const;  // throws inside one of the run's own calls
  const Plan& plan() const noexcept { return *plan_; }
  std::int64_t started_ns() const noexcept { return started_ns_; }
  // Down when nothing of the engine is left. Others, such as the controller, may hold it a moment longer than who let it go.
  std::shared_ptr<const std::latch> departure() const noexcept { return farewell_.latch(); }

  // StageHost
  Launcher& launcher() override { return *launcher_; }
  MemoryBudget& memory() override { return memory_; }
  bool acquire_cpu_slot(std::size_t stage) override;
  bool cpu_slot_is_wanted(std::size_t stage) override;
  void release_cpu_slot() override;
  void give_up_cpu_slot() override;
  void end_without_cpu_slot() override;
  bool stopped() const noexcept override { return stopped_.load(std::memory_order_relaxed); }
  void offer_memory() override;
  void give_up(std::exception_ptr cause) noexcept override;
  void wake_consumer() override { outlet_.wake(); }
  bool has_free_cpu_slot() const override;
  std::int64_t memory_claimed_behind(std::size_t stage) const override;
  bool next_is_empty(std::size_t stage) const override;
  bool is_last(std::size_t stage) const override { return stage + 1 == plan_->stages.size(); }
  std::string origin(std::int64_t ordinal) const override { return plan_->origin(ordinal); }
  std::stop_token stop_token() const override { return stop_.get_token(); }
  std::uint64_t seed() const override { return settings_.seed; }
  std::int64_t cpu_slots() const override { return settings_.slots; }
  std::int64_t open_io() const override { return settings_.open_io; }
  const Machine& machine() const override { return *settings_.machine; }
  Trace* trace() const override { return settings_.trace.get(); }
  bool keeps_statistics() const override { return settings_.statistics; }
  void cut_pass(std::size_t stage, const PassCut& cut) override;
  std::optional<Slot> close_pass(std::size_t stage, const PassCut& cut) override;
  void count_dropped(std::size_t stage, std::int64_t errors) override { stages_[stage]->signs().dropped.fetch_add(errors, std::memory_order_relaxed); }

  // SlotGate::Waiter
  void slot_is_free(std::size_t stage) override { stages_[stage]->slot_is_free(); }

 private:
  Engine(std::shared_ptr<const Plan> plan, const EngineSettings& settings, std::unique_ptr<Launcher> launcher);

  void open();
  void let_go_of_pass(std::size_t stage, const PassCut& cut);
  void resume_by_position(const Stamp& last);
  std::size_t cpu_rank(std::size_t stage) const;
  bool take(Slot& slot);
  void check_given_up();
  bool wait(std::int64_t deadline);
  std::chrono::nanoseconds look_around();
  bool help_somebody();
  void let_go_of_results();
  bool relieve_one();
  Knob stage_knob(std::size_t stage, KnobKind kind, std::int64_t low, std::int64_t high);
  Knob prefetch_knob();
  Knob memory_knob();
  Knob cpu_slots_knob();
  Knob priority_knob();

  const Farewell farewell_;                // the first member: destroyed after all others
  std::shared_ptr<const Plan> plan_;
  const EngineSettings settings_;
  std::unique_ptr<Launcher> launcher_;
  const std::int64_t started_ns_;
  MemoryBudget memory_;
  PassControl passes_;
  Outlet outlet_;
  std::chrono::nanoseconds look_pause_ = std::chrono::milliseconds(4);  // of the waiting consumer; its thread only
  std::uint64_t sequence_ = 0;             // of the pass that the consumer is in; its thread only
  std::stop_source stop_;
  std::atomic<bool> stopped_{false};
  SlotGate::RunRef at_gate_;               // none without a gate
  std::atomic<std::int64_t> lent_{0};      // threads, at this moment
  std::atomic<bool> gives_way_{false};     // its workers are to be less urgent than the consumer
  std::unique_ptr<std::byte[]> reserve_;   // to shut down takes some memory, and there may be none
  std::vector<std::unique_ptr<Stage>> stages_;
  mutable Mutex surroundings_mutex_;
  Surroundings surroundings_ GUARDED_BY(surroundings_mutex_);
  std::int64_t consumer_cpu_ns_ GUARDED_BY(surroundings_mutex_) = -1;  // when the clocks were read
};

}  // namespace penstock::exec
