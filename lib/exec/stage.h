// Stage: the logic of one stage: credits, ring, tokens, window, budget. No thread, no TBB: all that goes through the Launcher.
//
//   receive()  ->  waiting input  ->  ring of groups (input order)  ->  send()
//                  `buffer`            `window`                          as far as credits go
//
// Rules (each was found by breaking it; design notes in lib/README.md):
//   * Credits count slots. The consumer promises room for `buffer` slots and tops the promise up when it admits some; a smaller
//     buffer is simply not topped up until enough has been used. No stage ever waits for another one.
//   * A token is permission to run the OLDEST waiting group, whichever that is when it starts. Tokens <= parallelism.
//   * One thread emits at a time (`emitting_`); who finds it set leaves, the emitter looks again.
//   * What a call over several slots has done may leave before it returns, and what it has not begun can be had back (OpenCall): no element that is
//     done waits for one that takes long, but for the order.
//   * Where the user has fixed the number of calls, and order is kept, no element begins that is `window` or more behind the oldest one that is not
//     done: twice that number, unless the user moves that knob, too. So a call may wait for a buffer that later elements hold, if there are as many buffers as that and the consumer's own.
//   * No call leaves the stage while its lock is held, but to what takes no stage's lock, waits for nobody and runs no user's code: HostUnderLock, the
//     memory budget, the slot ledger, the trace, the clock, and two functions of Body that say so. What goes out otherwise goes through outside(), or is
//     marked EXCLUDES: clang checks both (lib/base/mutex.h).
//
// | called            | by                                   | when                                      |
// |-------------------|--------------------------------------|-------------------------------------------|
// | receive           | the edge                             | slots arrive, at most as many as promised |
// | add_credits       | the edge                             | the next stage has room                   |
// | run_token         | a thread of the launcher             | once per launch()                         |
// | slot_is_free      | the slot gate                        | once per refused token                    |
// | memory_is_free    | the engine, or what lies behind      | after a refused reservation               |
// | cancel_pass       | a stage further down                 | it wants no more of a pass                |
// | complete          | a Completion, any thread             | once per detached group                   |
// | set_*, snapshot   | a controller, any thread             | at any time                               |
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/snapshot.h>

#include "lib/base/mutex.h"
#include "lib/core/cache_line.h"
#include "lib/core/call_clock.h"
#include "lib/core/machine.h"
#include "lib/exec/body.h"
#include "lib/exec/brief_mutex.h"
#include "lib/exec/group.h"
#include "lib/exec/launcher.h"
#include "lib/exec/memory_budget.h"
#include "lib/exec/slot_gate.h"
#include "lib/exec/slot_ledger.h"
#include "lib/exec/stage_plan.h"
#include "lib/exec/trace.h"

namespace penstock::exec {

// What a stage asks of its engine with its lock held, or without. Any thread. No function waits, takes a stage's lock, or runs users' code.
class HostUnderLock {
 public:
  virtual ~HostUnderLock() = default;
  virtual MemoryBudget& memory() = 0;
  virtual bool stopped() const noexcept = 0;
  virtual bool is_last(std::size_t stage) const = 0;
  virtual bool acquire_cpu_slot(std::size_t stage) = 0;
  virtual bool cpu_slot_is_wanted(std::size_t stage) = 0;  // by somebody who goes before it
  virtual bool has_free_cpu_slot() const = 0;             // a guess
  virtual std::int64_t memory_claimed_behind(std::size_t stage) const = 0;  // sum of memory_claim()
  virtual bool next_is_empty(std::size_t stage) const = 0;  // nothing waits or runs up to the next stage that reserves
};

// And what it asks without its lock only (Stage::outside), for these may come back into a stage. Any thread.
class StageHost : public HostUnderLock, public BodyHost {
 public:
  virtual Launcher& launcher() = 0;
  virtual void release_cpu_slot() = 0;
  virtual void give_up_cpu_slot() = 0;                    // the token goes on without; at its end: end_without_cpu_slot()
  virtual void end_without_cpu_slot() = 0;
  virtual void offer_memory() = 0;                        // somebody may go on now
  virtual void give_up(std::exception_ptr cause) noexcept = 0;  // nothing new begins, and the consumer gets this
  virtual void wake_consumer() = 0;                       // memory is short, and what is ready may hold it
  virtual std::string origin(std::int64_t ordinal) const = 0;
  virtual std::stop_token stop_token() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual std::int64_t cpu_slots() const = 0;
  virtual std::int64_t open_io() const = 0;
  virtual const Machine& machine() const = 0;             // always the same
  virtual Trace* trace() const { return nullptr; }        // none: nobody wants one; always the same
  virtual bool keeps_statistics() const { return true; }  // always the same
};

class AsyncTarget;
struct Sealed;

class Stage {
 public:
  Stage(const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host, PassControl& passes);
  ~Stage();

  // Data and events; see the table above.
  void receive(Slots&& slots) EXCLUDES(mutex_);
  void add_credits(std::int64_t count) EXCLUDES(mutex_);
  void run_token(bool on_pool) noexcept EXCLUDES(mutex_);
  void slot_is_free() EXCLUDES(mutex_);
  void memory_is_free() EXCLUDES(mutex_);
  void cancel_pass(std::size_t depth, std::uint64_t sequence) EXCLUDES(mutex_);
  void complete(Group& group, Slot::Kind kind, Element value) noexcept EXCLUDES(mutex_);
  void count_more(Group& group, std::int64_t bytes) noexcept;  // a call that cannot be broken off holds more than foreseen
  void count_dropped(std::int64_t errors) noexcept { dropped_.fetch_add(errors, std::memory_order_relaxed); }
  void wake() EXCLUDES(mutex_);  // something outside has changed: look again
  bool look_after_calls() EXCLUDES(mutex_);  // now and then: what is done leaves though its call goes on
  bool has_open_calls() const noexcept { return open_calls_.load(std::memory_order_relaxed) > 0; }  // a guess
  void watch_calls() EXCLUDES(mutex_);  // now and then: see StageSnapshot::looks
  void recall() EXCLUDES(mutex_);  // calls under way return as soon as the element that they are at is done
  bool help() EXCLUDES(mutex_);  // runs one waiting group on this thread; false: there is none
  bool waits_for_cpu_slot() const EXCLUDES(mutex_);
  bool can_be_relieved() const EXCLUDES(mutex_);  // it does, and has work that could begin

  void connect(Stage& upstream) noexcept { upstream_ = &upstream; }  // all stages, before the first wake()
  void resume_after(const Stamp& last);           // before wake(): leave out what was delivered
  void stop() EXCLUDES(mutex_);  // after the engine's stop flag: cuts Completions off
  void let_go_of_slots() EXCLUDES(mutex_);  // then, while calls still run: of all that they do not work on, results of open calls among them
  void clear() EXCLUDES(mutex_);  // when nothing runs any more: lets all elements go
  bool is_empty() const noexcept { return occupied_.load() == 0; }
  // Bytes that it was refused while most of its calls stood idle: stages upstream, which would only bring it more to do, get none of these.
  std::int64_t memory_claim() const noexcept { return claim_.load(); }
  std::int64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  Stage* nearest_that_reserves() noexcept;        // this one or one upstream; a source, if there is no other
  bool waits() const noexcept { return on_pool_ || plan_.form == Form::completes_later; }  // its calls need no CPU while under way

  // Knobs.
  void set_parallelism(std::int64_t value) EXCLUDES(mutex_);
  void set_window(std::int64_t value) EXCLUDES(mutex_);
  void set_buffer(std::int64_t value) EXCLUDES(mutex_);
  void set_grain(std::int64_t nanoseconds) EXCLUDES(mutex_);
  void set_on_pool(bool on_pool) EXCLUDES(mutex_);

  void snapshot(StageSnapshot& out) const EXCLUDES(mutex_);
  void knobs(StageSnapshot& out) const EXCLUDES(mutex_);  // where they stand, and nothing else
  const StagePlan& plan() const noexcept { return plan_; }
  std::size_t index() const noexcept { return index_; }
  Body& body() noexcept { return *body_; }

 private:
  static constexpr double kSmallElement = 4096;  // bytes; larger ones are not worth buffering by the hundred
  struct Actions {
    std::int64_t credits = 0;
    std::int64_t launches = 0;
    bool on_pool = false;
    bool tell_upstream = false;            // that this stage is empty, for its rule of progress
    bool wake_consumer = false;            // it may hold what this stage waits for
    PacketRef packet;
    Slots unwanted;                        // to be destroyed, which runs users' code
    bool nothing() const { return credits == 0 && launches == 0 && packet == nullptr && !tell_upstream && !wake_consumer && unwanted.empty(); }
  };

  // What lies before a group in the ring, as far as it may keep that one from beginning.
  struct Before {
    std::int64_t begun = 0;      // slots from the oldest one on that is not done
    bool is_open = false;        // there is such a one
    bool has_open_pass = false;  // and a mark behind it
    void add(const Group& group);
  };

  StageHost& outside() const EXCLUDES(mutex_) { return outside_; }

  // Let go of the lock meanwhile; pump() does everything that may have become possible after a change of state.
  void pump() noexcept REQUIRES(mutex_);
  template <class Call> void or_give_up(Call&& call) noexcept REQUIRES(mutex_);
  Group* claim_group() REQUIRES(mutex_);
  void withdraw_claim() REQUIRES(mutex_);
  void let_more_begin() REQUIRES(mutex_);
  bool sleeps(int thread) const REQUIRES(mutex_);
  void ask_hint(Group& group) REQUIRES(mutex_);
  bool force(Group& group) REQUIRES(mutex_);
  bool leave_token(bool on_pool) REQUIRES(mutex_);
  void finish_part(Group& part) REQUIRES(mutex_);
  void unfold(Group& group) REQUIRES(mutex_);
  void run_group(Group& group) REQUIRES(mutex_);
  void run_to_end(Group& group) REQUIRES(mutex_);
  void start_detached(Group& group) REQUIRES(mutex_);

  Actions next_actions() REQUIRES(mutex_);
  void perform(Actions actions) EXCLUDES(mutex_);
  bool became_empty() REQUIRES(mutex_);

  // Input.
  bool admit_group() REQUIRES(mutex_);
  void admit_from_front(Group& group, std::int64_t most) REQUIRES(mutex_);
  void drop_unwanted(Slots& slots) REQUIRES(mutex_);
  void cancel_groups(std::size_t depth, std::uint64_t sequence) REQUIRES(mutex_);
  void cancel_group(Group& group) REQUIRES(mutex_);
  void drop_inputs(Group& group) REQUIRES(mutex_);
  void give_turns_back(const Group& group, std::size_t slots_before) REQUIRES(mutex_);
  std::unique_ptr<Group> new_group() REQUIRES(mutex_);
  void place(std::unique_ptr<Group> group) REQUIRES(mutex_);
  bool produce() REQUIRES(mutex_);
  std::int64_t group_size() const REQUIRES(mutex_);
  std::int64_t capacity() const REQUIRES(mutex_);
  std::int64_t most_in_window() const REQUIRES(mutex_);
  std::int64_t small_elements(double nanoseconds) const REQUIRES(mutex_);
  double affordable_bytes() const REQUIRES(mutex_);
  std::int64_t forced_size() const REQUIRES(mutex_);
  std::int64_t top_up() REQUIRES(mutex_);
  void note_mark(const Slot& mark) REQUIRES(mutex_);

  // Tokens.
  std::int64_t claim_tokens() REQUIRES(mutex_);
  void begin(Group& group) REQUIRES(mutex_);
  bool reserve(Group& group) REQUIRES(mutex_);
  bool take_memory(Group& group) REQUIRES(mutex_);
  void reserve_for_first_calls() REQUIRES(mutex_);
  bool has_room(std::int64_t tokens_before) REQUIRES(mutex_);
  bool wait_for_memory(std::int64_t bytes, std::int64_t kept) REQUIRES(mutex_);
  double expected_bytes_each() const REQUIRES(mutex_);
  std::int64_t most_calls() REQUIRES(mutex_);
  std::int64_t beyond_calls() const REQUIRES(mutex_);
  bool has_plenty() const REQUIRES(mutex_);
  double results_each() const REQUIRES(mutex_);
  std::int64_t expected_bytes(const Group& group) const REQUIRES(mutex_);
  void put_back(Group& group) REQUIRES(mutex_);
  void put_in_line(Group& group) REQUIRES(mutex_);
  std::int64_t startable(const Group& group) const REQUIRES(mutex_);
  std::int64_t startable(const Group& group, const Before& before) const REQUIRES(mutex_);
  std::int64_t startable_groups() const REQUIRES(mutex_);
  void settle_places(const Group& group) EXCLUDES(mutex_);
  bool may_run(bool on_pool) const REQUIRES(mutex_);
  bool may_force(const Group& group) const REQUIRES(mutex_);

  // Groups in parts.
  void open_call(Group& group) REQUIRES(mutex_);
  void close_call(Group& group) EXCLUDES(mutex_);
  void take_back(Group& group) REQUIRES(mutex_);
  void keep_first(Group& group, std::int64_t count) REQUIRES(mutex_);
  std::unique_ptr<Group> new_part(const Group& group, std::int64_t offset) REQUIRES(mutex_);
  static void pass_mark_on(Group& group, Group& rest);
  void insert_behind(const Group& group, std::unique_ptr<Group> rest) REQUIRES(mutex_);
  void want_back(Group& group) REQUIRES(mutex_);
  Group* take_part() REQUIRES(mutex_);
  std::unique_ptr<Group> take_part_of(Group& group) REQUIRES(mutex_);
  Slots answers_of(Group& group) REQUIRES(mutex_);
  Sealed seal_results(Group& group) const EXCLUDES(mutex_);
  void wait_to_unfold(Group& group) REQUIRES(mutex_);
  void let_go_of_folded(Group& group) REQUIRES(mutex_);
  std::int64_t elements_before_sealing(const Group& part) const;

  // Running.
  struct Outcome;
  std::optional<Outcome> run_call(Group& group) EXCLUDES(mutex_);
  ThreadUse start_call(Group& group, const std::shared_ptr<AsyncTarget>& target) EXCLUDES(mutex_);
  bool call_body(Group& group) EXCLUDES(mutex_);
  template <class Call> void with_context(detail::ContextServices& services, Group& group, Call&& call) EXCLUDES(mutex_);
  void break_off(Group& group) REQUIRES(mutex_);
  void finish(Group& group, const Sealed& results, std::int64_t kept_bytes) REQUIRES(mutex_);
  void release_results(Group& group, const Sealed& results, std::int64_t kept_bytes) REQUIRES(mutex_);
  void learn(const Group& group, std::int64_t inputs, std::int64_t output_bytes, std::int64_t now) REQUIRES(mutex_);
  void begin_sample(Group& group, CallClock& clock) const;
  ThreadUse end_sample(Group& group, CallClock& clock) const;
  void count_use(const ThreadUse& use) REQUIRES(mutex_);
  void account(std::int64_t now) REQUIRES(mutex_);
  void describe_knobs(StageSnapshot& out) const REQUIRES(mutex_);
  std::int64_t required_bytes(std::int64_t elements) const REQUIRES(mutex_);
  void describe_ring(std::int64_t now, StageSnapshot& out) const REQUIRES(mutex_);
  bool sample_now(const Group& group) REQUIRES(mutex_);
  const Group* draw_call() const REQUIRES(mutex_);
  const Group* oldest_call() const REQUIRES(mutex_);
  std::vector<std::uint64_t> keys_if_traced(const Slots& slots) const;
  void trace_call(std::int64_t begin, std::int64_t elements, std::vector<std::uint64_t> keys) const;

  // Output.
  PacketRef collect() REQUIRES(mutex_);
  PacketRef next_packet() REQUIRES(mutex_);
  bool brings_soon() const;
  std::int64_t worth_waiting() const REQUIRES(mutex_);
  void tell_what_is_under_way() REQUIRES(mutex_);
  bool collect_group(Group& group, bool keeps_mark, Slots& out) REQUIRES(mutex_);
  void retire(std::size_t place) REQUIRES(mutex_);

  const StagePlan plan_;
  const std::size_t index_;
  HostUnderLock& host_;
  StageHost& outside_;           // for outside() alone
  const Machine& machine_;
  Trace* const trace_;
  const bool keeps_statistics_;
  const bool one_at_a_time_;
  const bool is_source_;
  const bool begins_with_few_;   // calls, until one has given a result or a hint has told its size
  const bool keeps_near_;        // no element begins that is window_ or more behind the oldest one that is not done
  const bool keeps_passes_apart_;  // none begins behind a mark while one before it is not done
  Stage* upstream_ = nullptr;    // fixed before anything runs
  const std::shared_ptr<SlotLedger> ledger_;  // null: where results will lie cannot be foreseen
  PassControl& passes_;          // of the source's own thread, and where other threads stop it
  std::unique_ptr<Body> body_;   // run() without the lock; serial bodies by the one token there is
  std::atomic<std::int64_t> dropped_{0};
  // Written under the lock, and seldom; others read them without it for each of their tokens.
  alignas(kCacheLine) std::atomic<std::int64_t> claim_{0};  // bytes, of the oldest waiting group
  std::atomic<bool> waits_for_memory_{false};
  std::atomic<bool> has_folded_{false};  // folded_ is not empty
  std::atomic<bool> on_pool_;

  alignas(kCacheLine) mutable BriefMutex mutex_;
  // Input: promised_ = credits given and not yet used + slots in waiting_. promised_ <= capacity() after top_up()
  Queue<Slots> waiting_ GUARDED_BY(mutex_);
  std::size_t waiting_taken_ GUARDED_BY(mutex_) = 0;  // slots already taken from waiting_.front()
  std::int64_t waiting_count_ GUARDED_BY(mutex_) = 0;
  std::int64_t promised_ GUARDED_BY(mutex_) = 0;
  std::int64_t inputs_this_pass_ GUARDED_BY(mutex_) = 0;  // of this stage's own input; errors count, too
  bool skipping_ GUARDED_BY(mutex_) = false;  // everything up to a mark of skip_depth_ is unwanted
  std::size_t skip_depth_ GUARDED_BY(mutex_) = 0;
  Slots unwanted_ GUARDED_BY(mutex_);  // taken out of it, and not yet destroyed
  std::vector<std::int64_t> closed_ GUARDED_BY(mutex_);  // [d]: sequence of the last mark admitted with a level >= d
  std::vector<std::int64_t> departed_ GUARDED_BY(mutex_);  // the same of marks that have left the ring
  // Ring: groups in input order. in_window_ = sum of their admitted. ready_: the waiting ones that the body has not seen, oldest first
  Queue<std::unique_ptr<Group>> ring_ GUARDED_BY(mutex_);
  Queue<Group*> ready_ GUARDED_BY(mutex_);
  std::int64_t folded_bytes_ GUARDED_BY(mutex_) = 0;  // sum of theirs,
  std::int64_t hollow_bytes_ GUARDED_BY(mutex_) = 0;  // and of these
  Queue<Group*> folded_ GUARDED_BY(mutex_);  // those whose results have not all got their slots, and what had them has left: waiting, too
  std::vector<std::unique_ptr<Group>> spare_ GUARDED_BY(mutex_);
  std::int64_t in_window_ GUARDED_BY(mutex_) = 0;
  std::atomic<std::int64_t> occupied_{0};  // waiting_count_ + in_window_ + a packet being sent; the stages before read it without the lock
  std::int64_t next_number_ GUARDED_BY(mutex_) = 0;
  std::int64_t unsent_ GUARDED_BY(mutex_) = 0;  // slots finished and not yet sent
  // Calls: running_ groups are in a body, detached_ of them wait for a Completion
  std::int64_t tokens_ GUARDED_BY(mutex_) = 0;
  std::int64_t running_ GUARDED_BY(mutex_) = 0;
  std::int64_t detached_ GUARDED_BY(mutex_) = 0;
  std::int64_t cpu_slots_ GUARDED_BY(mutex_) = 0;  // that its tokens have
  std::int64_t completing_ GUARDED_BY(mutex_) = 0;  // threads inside complete() or look_after_calls(); stop() waits for them
  std::atomic<std::int64_t> open_calls_{0};  // a guess whether looking after them is worth the lock
  std::condition_variable_any completed_;
  bool waits_for_slot_ GUARDED_BY(mutex_) = false;
  bool held_back_ GUARDED_BY(mutex_) = false;  // there may be more for other threads to do than there seemed: tokens are to be counted out again
  std::atomic<bool> cheap_{false}, busy_{false};  // for brings_soon() of the last stage, which has not the others' locks
  std::atomic<bool> is_starting_{false};  // few calls may run, for nobody knows what their results hold
  std::int64_t first_calls_ GUARDED_BY(mutex_) = 1;  // so many of those
  std::int64_t more_began_ns_ GUARDED_BY(mutex_) = 0;  // when first_calls_ was raised, or the first call began; 0: none has
  std::int64_t without_hint_ GUARDED_BY(mutex_) = 1;  // groups in a row of which the op could not foretell the size; not 0 before the first
  // Output
  std::int64_t credits_ GUARDED_BY(mutex_) = 0;
  bool emitting_ GUARDED_BY(mutex_) = false;
  bool owes_wake_ GUARDED_BY(mutex_) = false;  // the last packet said that more comes soon
  // Knobs
  std::int64_t parallelism_ GUARDED_BY(mutex_);
  std::int64_t window_ GUARDED_BY(mutex_);
  std::int64_t buffer_ GUARDED_BY(mutex_);
  std::int64_t grain_ns_ GUARDED_BY(mutex_) = 20'000;
  // Measured
  double slot_ns_average_ GUARDED_BY(mutex_) = 0;  // per slot, of finished calls
  double bytes_average_ GUARDED_BY(mutex_) = 0;  // per slot, of results
  double input_average_ GUARDED_BY(mutex_) = 0;  // bytes per slot, of inputs
  double bytes_largest_ GUARDED_BY(mutex_) = 0;  // of one slot's results: what a careful stage reserves. It comes back to the average
  std::int64_t made_ GUARDED_BY(mutex_) = 0;  // elements, of the inputs that counters_.completed counts
  std::int64_t held_bytes_ GUARDED_BY(mutex_) = 0;
  std::int64_t accounted_until_ GUARDED_BY(mutex_) = 0;
  std::int64_t last_call_ns_ GUARDED_BY(mutex_) = 0;  // when the last one began
  double between_calls_ns_ GUARDED_BY(mutex_) = 0;
  StageSnapshot counters_ GUARDED_BY(mutex_);  // and what never changes of a snapshot
  mutable std::vector<std::int64_t> begins_ GUARDED_BY(mutex_);  // of calls under way, when they were last looked at: kept for its storage
};

// Where there is no memory for the engine's own lists, what was under way is half done: the run ends.
template <class Call>
void Stage::or_give_up(Call&& call) noexcept {
  try {
    call();
  } catch (...) {
    const MutexUnlock unlock(mutex_);
    outside().give_up(std::current_exception());
  }
}

// The thread's innermost body: which engine it belongs to. Lets next() see that it is called from inside a body.
class BodyScope {
 public:
  // Of a call that has them: its group, which outlives the scope, and its context.
  explicit BodyScope(const StageHost* host, Group* group = nullptr, const Context* context = nullptr) noexcept;
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

  // For a launcher whose calls share a thread of the system's: those that are under way on it from now on. What they were before.
  static const BodyScope* exchange(const BodyScope* innermost) noexcept;

  static bool inside_any() noexcept;
  static int depth() noexcept;                         // bodies around the caller, one inside the other
  static bool inside(const StageHost* host) noexcept;  // this one or an outer one
  static bool is_unwanted() noexcept;                  // what the innermost body gives, since what one around it gives is not, or it is not itself
  static std::uint32_t pass() noexcept;                // of the element that the innermost body works on; 0 outside of all

 private:
  const StageHost* host_;
  Group* group_;
  const Context* context_;
  const BodyScope* outer_;
};

}  // namespace penstock::exec
