// Explanation: why a pipeline is not faster, what would make it faster, and what its controller did.
//
//   std::cout << ps::to_text(run.explain());
//
// It is about the last 0.5 to 4 s: half a second where 32 elements were delivered in it, 2 s where 4 were, else all
// that is remembered. Of a run that has come to its end it is about all of it. Every number says how many samples it is
// made of. What was not measured is NaN here, "unknown" in the text and null in the JSON. Times are seconds, rates are
// per second.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <penstock/decision.h>

#pragma GCC visibility push(default)

namespace penstock {

// What keeps a pipeline from delivering more.
enum class Limit : std::uint8_t {
  unknown,   // nothing was measured yet
  consumer,  // it gets what it asks for
  cpu,       // every core, or every slot for calls that compute, is in use
  serial,    // a stage that works one element after the other is always at it
  parallel,  // all calls that a stage may run at once are under way
  ceiling,   // a device or a lock behind a stage gives no more, however many calls ask for it
  memory,    // no room for more elements
  window,    // a stage keeps the order, and its slowest call holds up too many that are done
  buffer,    // stages, or the consumer's bursts, wait for each other in turn: too few elements may wait between them
};

// "cpu"
const char* name_of(Limit limit) noexcept;

// Why the bottleneck is not wider.
enum class Hold : std::uint8_t {
  unknown,
  nothing,          // there is nothing to gain: the consumer is the limit
  user_limit,       // the user fixed the number, or bounded it
  open_io,          // RunOptions::open_io
  cores,            // the process has no more
  other_processes,  // it has, but other processes use them
  memory,           // RunOptions::memory_bytes
  device,           // probes with more calls brought no more
  one_at_a_time,    // the op needs its elements in turn
  not_tuned,        // RunOptions::tune is off
  settling,         // nothing: the controller is at it
  // it is as wide as it may be: a window does not grow beyond 4,096 elements, or 64 for each call that computes
  knob_limit,
};

// "user_limit"
const char* name_of(Hold hold) noexcept;

struct Explanation {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // what was not measured

  struct Measured {
    double value = kUnknown;   // in the unit that the member says
    double error = kUnknown;   // standard error; NaN: not known
    std::int64_t samples = 0;  // that it comes from
  };

  struct Bottleneck {
    Limit limit = Limit::unknown;  // what keeps the pipeline from delivering more
    int stage = -1;  // index into `stages`; -1: none in particular. Of `buffer`: the stage behind it, -1: the consumer
    double use = kUnknown;      // share of the time, or of the resource, that was in use
    Hold hold = Hold::unknown;  // why it is not wider
  };

  // What a resource would allow if nothing else were in the way.
  struct Bound {
    Limit limit = Limit::unknown;  // the resource
    int stage = -1;                // whose it is; -1: of the whole run
    double has = kUnknown;         // cores, calls at once
    double rate = kUnknown;        // delivered elements/s
    std::int64_t samples = 0;      // elements, or calls whose CPU time was read
  };

  enum class Change : std::uint8_t {
    core,           // one more
    call,           // one more at once at `stage`
    calls,          // as many at once as are of use: `amount`
    twice_as_fast,  // `stage`
    lifted,         // the bottleneck is gone, whatever it is
  };
  struct WhatIf {
    Change change = Change::core;  // what is done
    int stage = -1;                // where; -1: nowhere in particular
    double amount = 1;             // cores, or calls at once
    double gain = kUnknown;        // of the delivered rate: 0.5 is half as much again
    double gain_later = kUnknown;  // what it brings once the bottleneck is gone
    Limit next = Limit::unknown;   // what would be the bottleneck then
    int next_stage = -1;           // and where; -1: nowhere in particular
  };

  struct Stage {
    std::string name;                 // as in StageSnapshot
    int position = 0;                 // of its first op in the chain
    bool parallel = false;            // calls may run at once
    bool on_pool = false;             // on the threads for blocking calls
    bool completes_later = false;     // results come through a Completion
    std::int64_t parallelism = 1;     // calls that may run at once
    std::int64_t window = 1;          // knob, as in knob.h
    std::int64_t buffer = 1;          // knob, as in knob.h
    double rate = 0;                  // elements/s
    double per_delivered = kUnknown;  // elements of this stage for one that the consumer takes
    double in_flight = 0;             // calls under way, on average
    Measured call;                    // time of a call for one element
    double cpu = kUnknown;            // of it: on a core,
    double queued = kUnknown;         // ready to run, and no core free,
    double waiting = kUnknown;        // waiting for something else
    std::int64_t clock_samples = 0;   // calls that these three come from
    double starved = 0;               // share of the time without input
    double blocked = 0;               // share of the time without room for results
    double blame = 0;  // its share of the waiting of those behind it and of the consumer; all stages together have 1
    std::int64_t bytes_held = 0;     // by elements here
    std::string unseen_type = {};    // of results whose memory nobody can tell; "": none
    std::int64_t cycle_length = 0;   // of an interleave: how many datasets give in turn; 0: it is none
    std::int64_t datasets_open = 0;  // of these, and of those that are opened ahead
    double opening = kUnknown;       // share of its calls' time in which datasets are opened: in the rest they are read
    // since the run began
    std::int64_t datasets_opened = 0;  // by an interleave
    std::int64_t elements_in = 0;      // received
    std::int64_t elements_out = 0;     // passed on
    std::int64_t errors = 0;           // elements that failed here
    std::int64_t dropped = 0;          // failed elements that ignore_errors left out here
  };

  enum class Problem : std::uint8_t {
    foreign_threads,     // `amount` cores are burnt by threads that are not penstock's, in step with `stage`
    buffer_cannot_help,  // the consumer wants more than the pipeline can give, so no buffer fills
    // the ops must hold `amount` bytes by now, more than there may be; when they are full:
    // StageSnapshot::bytes_required_in_all
    memory_too_small,
    consumer_delayed,  // the consumer's own thread waits `amount` of the time for a core
    // batches copy `amount` bytes a second, because what `stage` hands on does not lie in them: Outputs in op.h
    copies,
    // `stage` gives elements that may own memory which nobody can tell (Stage::unseen_type): the budget does not hold
    // for them
    unseen_memory,
    // `stage` waits for memory because it reserves `amount` bytes a result since one was so large; that is forgotten
    // within some hundred calls
    outlier,
    other_processes,  // calls that are ready to run have no core for `amount` of the time: other processes use them
  };
  struct Warning {
    Problem problem = Problem::foreign_threads;  // what is the matter
    int stage = -1;                              // -1: not known which
    double amount = kUnknown;                    // as Problem says
    std::int64_t samples = 0;                    // pairs of numbers that `stage` was told by; 0: only likely
  };

  // Nothing has moved for 5 s or longer while the consumer waits: which calls are under way since when, who waits for
  // whom, a line each. Empty: all goes on. The same is written to stderr once.
  std::string stand_still;
  double time = 0;      // since the run began
  double window = 0;    // that all this is about
  bool serial = false;  // everything in turn on the consumer's thread: RunOptions::serial, or
  bool inside_another_run =
      false;                  // the run was begun inside a function of another one, whose threads it must not wait for
  Measured delivered;         // elements/s
  Measured wait_share;        // of the consumer's time
  double demand = kUnknown;   // elements/s that the consumer would take if it never waited
  Bottleneck bottleneck;      // what limits the pipeline
  std::vector<Bound> bounds;  // smallest first, unknown ones last; without those that are far from mattering
  std::vector<WhatIf> what_ifs;     // what would make it faster
  double cpu_used = kUnknown;       // cores, by the pipeline: the threads of its calls, and threads that these start
  double cpu_in_calls = kUnknown;   // cores, of these: inside calls. The rest is spent between them
  double queued = 0;                // share of the time in which calls are ready to run and have no core
  double cpu_consumer = kUnknown;   // cores, by the consumer's thread
  double cpu_budget = 1;            // cores that the run may use
  std::int64_t prefetch = 1;        // knob
  double memory_used = 0;           // bytes, on average
  std::int64_t memory_limit = 0;    // bytes that elements under way may hold
  std::int64_t memory_peak = 0;     // most bytes held and reserved
  std::int64_t looks = 0;           // at the memory, and at what stages wait for
  double in_results = 0;            // bytes of results that wait to be taken
  std::vector<Stage> stages;        // source first
  std::vector<Decision> decisions;  // the last few, newest last
  std::vector<Warning> warnings;    // what is out of order
  // What was changed of the pipeline before the run (RunOptions::rewrites), in words; none: it runs as it is written.
  std::vector<std::string> rewrites;

  // The consumer is kept waiting for more than a twentieth of its time.
  bool input_bound() const noexcept { return wait_share.value > 0.05; }
  // How many times as fast the consumer would be if every element were there already, out of a cache: at least 1. NaN:
  // not known.
  double headroom() const noexcept { return delivered.value > 0 ? demand / delivered.value : kUnknown; }
};

// For people: 20 lines at most, the answer in the first two, a table of the stages at the end.
std::string to_text(const Explanation& explanation);

// One object on one line, without a newline. Numbers that are not known are null.
std::string to_json(const Explanation& explanation);

}  // namespace penstock

#pragma GCC visibility pop
