// Stage: one stage of a run in virtual time, with the rules of lib/exec/stage.h: credits, a window in the order of the inputs, calls that need
// a slot of the compute arena or a thread of the pool, and memory that is reserved before they begin.
//
// All stages share one thread, so nothing here is locked. What may go on after an event is found by step(), until nothing changes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <penstock/snapshot.h>

#include "bench/scorecard/events.h"
#include "bench/scorecard/spec.h"

namespace penstock::scorecard {

class Chain;
class Stage;

// Elements that travel together. `size`: sum of their factors.
struct Lot {
  std::int64_t count = 0;
  double size = 0;
  std::int64_t bytes = 0;
};

// A group of elements and the call that runs it.
struct Call final : Client {
  enum class State : std::uint8_t { waiting, running, done, gone };
  enum class Phase : std::uint8_t { blocked, own_threads, computing };

  void wake() override;

  Stage* stage = nullptr;
  State state = State::waiting;
  Phase phase = Phase::blocked;
  Lot input, output;              // of the output: what has not left yet
  std::int64_t reserved = 0;
  bool forced = false, on_pool = false, waited = false, is_drawn = false, sampled = false;
  Time token_since = 0;           // its thread has worked for this stage without a break
  Time started = 0;
  Time on_cpu_since = 0;
  double blocked_ns = 0, cpu_ns = 0;  // to do
  double clock = 0;               // of the workers, when it began to compute
  int threads = 0;                // of its own, under way
  Call *earlier = nullptr, *later = nullptr;  // running ones of the stage
};

class Stage {
 public:
  Stage(Chain& chain, int index, const StageSpec& spec, std::int64_t calls, std::uint64_t seed);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void connect(Stage* feeds, std::vector<Stage*> inputs);
  void step();
  void receive(const Stage& from, const Lot& lot);
  void add_credits(std::int64_t count);
  void proceed(Call& call);
  void slot_is_free();
  void memory_is_free();

  // Knobs.
  void set_parallelism(std::int64_t value);
  void set_window(std::int64_t value);
  void set_buffer(std::int64_t value);
  void set_grain(std::int64_t value) { grain_ns_ = value; }
  void set_on_pool(bool on_pool);
  std::int64_t parallelism() const noexcept { return parallelism_; }
  std::int64_t window() const noexcept { return window_; }
  std::int64_t buffer() const noexcept { return buffer_; }
  std::int64_t grain() const noexcept { return grain_ns_; }
  bool on_pool() const noexcept { return on_pool_; }

  void snapshot(StageSnapshot& out) const;
  const StageSpec& spec() const noexcept { return spec_; }
  Stage* feeds() const noexcept { return feeds_; }
  bool is_empty_of(const Stage& from) const noexcept;  // nothing is here that came from it
  bool passes_memory_on() const noexcept { return is_source_ || spec_.batch > 1; }
  std::int64_t running() const noexcept { return running_; }
  std::int64_t largest_element() const noexcept { return largest_; }  // bytes of all results of one input, ever
  std::int64_t required_bytes() const noexcept;                       // that it must hold to make progress
  bool brings_soon() const;
  std::int64_t worth_waiting() const;

 private:
  struct Input {
    Stage* from;
    Ring<Lot> waiting = {};
    std::int64_t count = 0, promised = 0;
  };

  // Input; stage_input.cc.
  bool admit();
  bool produce();
  Call& new_call(std::int64_t inputs);
  Lot take(Input& input, std::int64_t count);
  void top_up(Input& input);
  std::int64_t waiting() const;      // elements of which all inputs are there
  std::int64_t all_waiting() const;
  std::int64_t group_size() const;
  std::int64_t capacity() const;
  std::int64_t small_elements(double nanoseconds) const;

  // Calls; stage_call.cc.
  void start_calls();
  bool start_next(Time token_since, bool on_pool);
  bool reserve(Call& call);
  std::int64_t claimed_behind() const;
  void withdraw_claim();
  void tell_upstream();
  bool may_force(const Call& call) const;
  void keep_first(Call& call);
  double expected_bytes() const;
  void draw(Call& call);
  void begin_next_phase(Call& call);
  void compute(Call& call);
  void finish(Call& call);
  bool sample_now();
  void make_batches(Call& call);
  void learn(const Call& call, Time now);
  void go_on(const Call& call);
  bool acquire();
  void release(bool on_pool);
  void account();

  // Output; stage.cc.
  void emit();
  bool emit_from(Call& call);
  void send(const Lot& lot);
  void tell_what_is_under_way();

  Chain& chain_;
  const int index_;
  const StageSpec spec_;
  const bool is_source_;
  Random random_;  // its own, so that its elements are the same ones whatever the knobs
  Random sampling_;
  Stage* feeds_ = nullptr;
  std::vector<Input> inputs_;
  // Calls in the order of their inputs; ready_: the waiting ones; done_: finished ones of a stage without order
  std::deque<Call> pool_;
  std::vector<Call*> spare_;
  Ring<Call*> ring_, ready_, done_;
  Call *oldest_ = nullptr, *newest_ = nullptr;
  std::int64_t in_window_ = 0, unsent_ = 0, running_ = 0, ready_count_ = 0;
  std::int64_t credits_ = 0;
  std::int64_t claim_ = 0;  // bytes that it was refused, and is to have before stages upstream get any
  bool waits_for_slot_ = false, waits_for_memory_ = false, is_stepping_ = false, steps_again_ = false;
  bool cheap_ = false, busy_ = false;
  Lot batching_;  // elements of a batch that is not full
  // Knobs
  std::int64_t parallelism_, window_, buffer_ = 2, grain_ns_ = 20'000;
  bool on_pool_;
  // Measured
  double slot_ns_average_ = 0, bytes_average_ = 0, input_average_ = 0;
  std::int64_t largest_ = 0;        // results of one input
  Time accounted_until_ = 0, last_call_ = 0;
  double between_calls_ = 0;
  StageSnapshot counters_;
};

}  // namespace penstock::scorecard
