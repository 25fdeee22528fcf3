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
//   * The lock is never held across a call out of the stage.
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
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/snapshot.h>

#include "lib/core/call_clock.h"
#include "lib/core/cache_line.h"
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

// What a stage asks of its engine. Any thread, no lock of the stage held, unless said otherwise.
class StageHost : public BodyHost {
 public:
  virtual Launcher& launcher() = 0;
  virtual MemoryBudget& memory() = 0;
  virtual bool acquire_cpu_slot(std::size_t stage) = 0;  // with the stage's lock held
  virtual bool cpu_slot_is_wanted(std::size_t stage) = 0;  // by somebody who goes before it; also with the lock held
  virtual void release_cpu_slot() = 0;
  virtual void give_up_cpu_slot() = 0;                    // the token goes on without; at its end: end_without_cpu_slot()
  virtual void end_without_cpu_slot() = 0;
  virtual bool stopped() const noexcept = 0;
  virtual void offer_memory() = 0;                        // somebody may go on now
  virtual void give_up(std::exception_ptr cause) noexcept = 0;  // nothing new begins, and the consumer gets this
  virtual void wake_consumer() = 0;                       // memory is short, and what is ready may hold it
  virtual bool has_free_cpu_slot() const = 0;             // a guess; also with the stage's lock held
  virtual std::int64_t memory_claimed_behind(std::size_t stage) const = 0;  // sum of memory_claim(); also with the lock held
  virtual bool next_is_empty(std::size_t stage) const = 0;  // nothing waits or runs up to the next stage that reserves
  virtual bool is_last(std::size_t stage) const = 0;
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
  void receive(Slots&& slots);
  void add_credits(std::int64_t count);
  void run_token(bool on_pool) noexcept;
  void slot_is_free();
  void memory_is_free();
  void cancel_pass(std::size_t depth, std::uint64_t sequence);
  void complete(Group& group, Slot::Kind kind, Element value) noexcept;
  void count_more(Group& group, std::int64_t bytes) noexcept;  // a call that cannot be broken off holds more than foreseen
  void count_dropped(std::int64_t errors) noexcept { dropped_.fetch_add(errors, std::memory_order_relaxed); }
  void wake();                                    // something outside has changed: look again
  bool look_after_calls();                        // now and then: what is done leaves though its call goes on
  bool has_open_calls() const noexcept { return open_calls_.load(std::memory_order_relaxed) > 0; }  // a guess
  void watch_calls();                             // now and then: see StageSnapshot::looks
  void recall();                                  // calls under way return as soon as the element that they are at is done
  bool help();                                    // runs one waiting group on this thread; false: there is none
  bool waits_for_cpu_slot() const;
  bool can_be_relieved() const;                   // it does, and has work that could begin

  void connect(Stage& upstream) noexcept { upstream_ = &upstream; }  // all stages, before the first wake()
  void resume_after(const Stamp& last);           // before wake(): leave out what was delivered
  void stop();                                    // after the engine's stop flag: cuts Completions off
  void let_go_of_slots();                         // then, while calls still run: of all that they do not work on, results of open calls among them
  void clear();                                   // when nothing runs any more: lets all elements go
  bool is_empty() const noexcept { return occupied_.load() == 0; }
  // Bytes that it was refused while most of its calls stood idle: stages upstream, which would only bring it more to do, get none of these.
  std::int64_t memory_claim() const noexcept { return claim_.load(); }
  std::int64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  Stage* nearest_that_reserves() noexcept;        // this one or one upstream; a source, if there is no other
  bool waits() const noexcept { return on_pool_ || plan_.form == Form::completes_later; }  // its calls need no CPU while under way

  // Knobs.
  void set_parallelism(std::int64_t value);
  void set_window(std::int64_t value);
  void set_buffer(std::int64_t value);
  void set_grain(std::int64_t nanoseconds);
  void set_on_pool(bool on_pool);

  void snapshot(StageSnapshot& out) const;
  void knobs(StageSnapshot& out) const;           // where they stand, and nothing else
  const StagePlan& plan() const noexcept { return plan_; }
  std::size_t index() const noexcept { return index_; }
  Body& body() noexcept { return *body_; }

 private:
  using Lock = std::unique_lock<BriefMutex>;
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

  // Everything that may have become possible after a change of state. Enters and leaves with the lock held.
  void pump(Lock& lock) noexcept;
  template <class Call> void or_give_up(Lock& lock, Call&& call) noexcept;
  Actions next_actions();
  void perform(Actions& actions);
  bool became_empty();

  // Input.
  bool admit_group();
  void admit_from_front(Group& group, std::int64_t most);
  void drop_unwanted(Slots& slots);
  void cancel_group(Group& group);
  void drop_inputs(Group& group);
  void give_turns_back(const Group& group, std::size_t slots_before);
  std::unique_ptr<Group> new_group();
  void place(std::unique_ptr<Group> group);
  bool produce();
  std::int64_t group_size() const;
  std::int64_t capacity() const;
  std::int64_t most_in_window() const;
  std::int64_t small_elements(double nanoseconds) const;
  double affordable_bytes() const;
  std::int64_t forced_size() const;
  std::int64_t top_up();
  void note_mark(const Slot& mark);

  // Tokens.
  std::int64_t claim_tokens();
  Group* claim_group(Lock& lock);
  void begin(Group& group);
  bool reserve(Group& group);
  bool take_memory(Group& group);
  void reserve_for_first_calls();
  bool has_room(std::int64_t tokens_before);
  bool wait_for_memory(std::int64_t bytes, std::int64_t kept);
  void withdraw_claim(Lock& lock);
  double expected_bytes_each() const;
  std::int64_t most_calls();
  void let_more_begin(Lock& lock);
  std::int64_t beyond_calls() const;
  bool has_plenty() const;
  double results_each() const;
  std::int64_t expected_bytes(const Group& group) const;
  void ask_hint(Group& group, Lock& lock);
  bool force(Group& group, Lock& lock);
  void put_back(Group& group);
  void put_in_line(Group& group);
  std::int64_t startable(const Group& group) const;
  std::int64_t startable(const Group& group, const Before& before) const;
  std::int64_t startable_groups() const;
  void settle_places(const Group& group);
  void leave_token(Lock& lock, bool on_pool);
  bool may_run(bool on_pool) const;
  bool may_force(const Group& group) const;

  // Groups in parts.
  void open_call(Group& group);
  void close_call(Group& group);
  void take_back(Group& group);
  void keep_first(Group& group, std::int64_t count);
  std::unique_ptr<Group> new_part(const Group& group, std::int64_t offset);
  static void pass_mark_on(Group& group, Group& rest);
  void insert_behind(const Group& group, std::unique_ptr<Group> rest);
  static void want_back(Group& group);
  Group* take_part();
  std::unique_ptr<Group> take_part_of(Group& group);
  Slots answers_of(Group& group);
  void finish_part(Group& part, Lock& lock);
  Sealed seal_results(Group& group) const;
  void wait_to_unfold(Group& group);
  void unfold(Group& group, Lock& lock);
  void let_go_of_folded(Group& group);
  std::int64_t elements_before_sealing(const Group& part) const;

  // Running, without the lock.
  void run_group(Group& group, Lock& lock);
  void run_to_end(Group& group, Lock& lock);
  void start_detached(Group& group, Lock& lock);
  bool call_body(Group& group);
  template <class Call> void with_context(detail::ContextServices& services, Group& group, Call&& call);
  void break_off(Group& group);
  void finish(Group& group, const Sealed& results, std::int64_t kept_bytes);
  void release_results(Group& group, const Sealed& results, std::int64_t kept_bytes);
  void learn(const Group& group, std::int64_t inputs, std::int64_t output_bytes, std::int64_t now);
  void begin_sample(Group& group, CallClock& clock) const;
  ThreadUse end_sample(Group& group, CallClock& clock) const;
  void count_use(const ThreadUse& use);
  void account(std::int64_t now);
  void describe_knobs(StageSnapshot& out) const;
  std::int64_t required_bytes(std::int64_t elements) const;
  void describe_ring(std::int64_t now, StageSnapshot& out) const;
  bool sample_now(const Group& group);
  const Group* draw_call() const;
  const Group* oldest_call() const;
  std::vector<std::uint64_t> keys_if_traced(const Slots& slots) const;
  void trace_call(std::int64_t begin, std::int64_t elements, std::vector<std::uint64_t> keys) const;

  // Output.
  PacketRef collect();
  PacketRef next_packet();
  bool brings_soon() const;
  std::int64_t worth_waiting() const;
  void tell_what_is_under_way();
  bool collect_group(Group& group, bool keeps_mark, Slots& out);
  void retire(std::size_t place);

  const StagePlan plan_;
  const std::size_t index_;
  StageHost& host_;
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
  std::unique_ptr<Body> body_;   // run() outside the lock; serial bodies by the one token there is
  std::atomic<std::int64_t> dropped_{0};
  // Written under the lock, and seldom; others read them without it for each of their tokens.
  alignas(kCacheLine) std::atomic<std::int64_t> claim_{0};  // bytes, of the oldest waiting group
  std::atomic<bool> waits_for_memory_{false};
  std::atomic<bool> has_folded_{false};  // folded_ is not empty
  std::atomic<bool> on_pool_;

  alignas(kCacheLine) mutable BriefMutex mutex_;  // all below. Nothing is called out of the stage while it is held, except the slot gate
  // Input: promised_ = credits given and not yet used + slots in waiting_. promised_ <= capacity() after top_up()
  Queue<Slots> waiting_;
  std::size_t waiting_taken_ = 0;        // slots already taken from waiting_.front()
  std::int64_t waiting_count_ = 0;
  std::int64_t promised_ = 0;
  std::int64_t inputs_this_pass_ = 0;       // of this stage's own input; errors count, too
  bool skipping_ = false;                // everything up to a mark of skip_depth_ is unwanted
  std::size_t skip_depth_ = 0;
  Slots unwanted_;                       // taken out of it, and not yet destroyed
  std::vector<std::int64_t> closed_;     // [d]: sequence of the last mark admitted with a level >= d
  std::vector<std::int64_t> departed_;   // the same of marks that have left the ring
  // Ring: groups in input order. in_window_ = sum of their admitted. ready_: the waiting ones that the body has not seen, oldest first
  Queue<std::unique_ptr<Group>> ring_;
  Queue<Group*> ready_;
  std::int64_t folded_bytes_ = 0;        // sum of theirs,
  std::int64_t hollow_bytes_ = 0;        // and of these
  Queue<Group*> folded_;                 // those whose results have not all got their slots, and what had them has left: waiting, too
  std::vector<std::unique_ptr<Group>> spare_;
  std::int64_t in_window_ = 0;
  std::atomic<std::int64_t> occupied_{0};  // waiting_count_ + in_window_ + a packet being sent; the stages before read it without the lock
  std::int64_t next_number_ = 0;
  std::int64_t unsent_ = 0;              // slots finished and not yet sent
  // Calls: running_ groups are in a body, detached_ of them wait for a Completion
  std::int64_t tokens_ = 0;
  std::int64_t running_ = 0;
  std::int64_t detached_ = 0;
  std::int64_t cpu_slots_ = 0;           // that its tokens have
  std::int64_t completing_ = 0;          // threads inside complete() or look_after_calls(); stop() waits for them
  std::atomic<std::int64_t> open_calls_{0};  // a guess whether looking after them is worth the lock
  std::condition_variable_any completed_;
  bool waits_for_slot_ = false;
  bool held_back_ = false;               // there may be more for other threads to do than there seemed: tokens are to be counted out again
  std::atomic<bool> cheap_{false}, busy_{false};  // for brings_soon() of the last stage, which has not the others' locks
  std::atomic<bool> is_starting_{false};  // few calls may run, for nobody knows what their results hold
  std::int64_t first_calls_ = 1;         // so many of those
  std::int64_t more_began_ns_ = 0;       // when first_calls_ was raised, or the first call began; 0: none has
  std::int64_t without_hint_ = 1;        // groups in a row of which the op could not foretell the size; not 0 before the first
  // Output
  std::int64_t credits_ = 0;
  bool emitting_ = false;
  bool owes_wake_ = false;               // the last packet said that more comes soon
  // Knobs
  std::int64_t parallelism_;
  std::int64_t window_;
  std::int64_t buffer_;
  std::int64_t grain_ns_ = 20'000;
  // Measured
  double slot_ns_average_ = 0;           // per slot, of finished calls
  double bytes_average_ = 0;             // per slot, of results
  double input_average_ = 0;             // bytes per slot, of inputs
  double bytes_largest_ = 0;             // of one slot's results: what a careful stage reserves. It comes back to the average
  std::int64_t made_ = 0;                // elements, of the inputs that counters_.completed counts
  std::int64_t held_bytes_ = 0;
  std::int64_t accounted_until_ = 0;
  std::int64_t last_call_ns_ = 0;        // when the last one began
  double between_calls_ns_ = 0;
  StageSnapshot counters_;               // and what never changes of a snapshot
  mutable std::vector<std::int64_t> begins_;  // of calls under way, when they were last looked at: kept for its storage
};

// Where there is no memory for the engine's own lists, what was under way is half done: the run ends. Enters and leaves with the lock held.
template <class Call>
void Stage::or_give_up(Lock& lock, Call&& call) noexcept {
  try {
    call();
  } catch (...) {
    if (lock.owns_lock()) lock.unlock();
    host_.give_up(std::current_exception());
    lock.lock();
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
