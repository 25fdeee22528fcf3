// Snapshot: everything that is measured about a running pipeline. Counters only grow; take two and subtract.
// Taking one copies about 1 KB for each stage, one after the other; a stage is held up while its part is copied and the
// calls in its window are looked through. All times are nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

// How long calls took, per element: counts by half octaves. penstock/service_times.h says which counts what.
using ServiceTimes = std::array<std::int64_t, 66>;

struct StageSnapshot {
  std::string name;              // op names of the stage, "shard+shuffle" when fused
  int position = 0;              // of its first op in the chain
  int feeds = -1;                // the stage that takes its results; -1: the consumer
  bool parallel = false;         // calls may run at once
  bool ordered = true;           // results leave in the order of the inputs
  bool completes_later = false;  // results come through a Completion
  bool form_is_known = false;    // the user said whether it blocks; else a controller may move it
  // knobs
  std::int64_t parallelism = 1;  // calls at once
  std::int64_t window = 1;       // elements between the oldest unfinished and the newest started
  std::int64_t buffer = 1;       // elements that may wait at the input
  std::int64_t grain_ns = 0;     // work worth a call
  bool on_pool = false;          // on the threads for blocking calls
  // now
  std::int64_t running = 0;        // calls in flight
  std::int64_t ready = 0;          // elements waiting to start
  std::int64_t waiting_input = 0;  // elements received, not yet admitted
  std::int64_t in_window = 0;      // admitted, not yet left
  std::int64_t credits = 0;        // elements the next stage will take at once
  std::int64_t bytes_held = 0;     // by elements here, as the memory budget counts them
  // that it must hold to make progress: a batch of elements, a shuffle's buffer, as far as elements have come
  std::int64_t bytes_required = 0;
  std::int64_t bytes_required_in_all = 0;  // the same when enough have come to fill it
  std::int64_t bytes_expected = 0;         // reserved for each result of a call that has no hint
  // of results that may own memory which neither bytes_of nor a hint tells, "" if none: "Pair (because of Clip in it)"
  std::string unseen_type = {};
  std::int64_t oldest_call_ns = 0;  // age of the oldest call in flight
  // position in the source of that call's first element; -1: no call, or a source's own
  std::int64_t oldest_call_ordinal = -1;
  int oldest_call_source = 0;       // which source that is (Stamp::source)
  std::int64_t median_call_ns = 0;  // median age of the calls in flight
  bool waits_for_memory = false;    // a call could start if the budget had room
  bool waits_for_cpu_slot = false;  // a call could start if a slot were free
  // a consumer that waits does so for this stage, too: false in a branch of which a merge needs nothing now
  bool awaited = true;
  // since the start
  std::int64_t elements_in = 0;     // received
  std::int64_t elements_out = 0;    // passed on
  std::int64_t errors = 0;          // elements that failed here
  std::int64_t dropped = 0;         // failed elements that ignore_errors left out here
  std::int64_t calls = 0;           // groups of elements run
  std::int64_t completed = 0;       // elements run
  std::int64_t made = 0;            // results of these, whether they could leave yet or not
  std::int64_t slot_ns = 0;         // integral of calls in flight over time, unfinished ones included
  ServiceTimes service_times = {};  // of finished elements
  // Of calls whose CPU time was read: one in 4 ms of the stage's life or so. Of a stage that completes later it is the
  // CPU time of the start.
  // from their beginnings to their ends, without the time in which their clocks were read
  std::int64_t sampled_wall_ns = 0;
  std::int64_t sampled_cpu_ns = 0;    // of that: on a CPU
  std::int64_t samples = 0;           // how many calls
  std::int64_t sampled_elements = 0;  // that these calls ran
  // of these calls: ready to run, and no core free; 0 also where the system does not tell
  std::int64_t sampled_delay_ns = 0;
  // of slot_ns: in which their clocks were read. Much on a busy machine: there a thread loses its core
  std::int64_t sampling_ns = 0;
  // Only counted while !form_is_known:
  // of sampled_wall_ns: neither on a CPU nor ready to run, of calls that gave the CPU up by themselves
  std::int64_t sampled_waiting_ns = 0;
  std::int64_t looks = 0;         // each 10 or 20 ms, at one of the calls under way
  std::int64_t looks_asleep = 0;  // of these, at a call that waited, after 2 ms and more
  std::int64_t starved_ns = 0;    // a call could have started, but there was no input
  std::int64_t blocked_ns = 0;    // finished elements could not leave
  std::int64_t bytes_out = 0;     // of all results made
  std::int64_t copied_bytes =
      0;  // of tensors that batches were put together from, and that did not lie in their places
  // of an interleave, 0 elsewhere:
  std::int64_t cycle_length = 0;     // datasets that give in turn
  std::int64_t datasets_open = 0;    // now, those that are opened ahead among them
  std::int64_t datasets_opened = 0;  // since the start
  std::int64_t opening_ns = 0;       // of slot_ns: in which datasets were opened; in the rest they were read
  // of a batch: the last stage whose results are not those of the one before. What that and earlier ones hand on need
  // not lie in the batch (Outputs in op.h); -1: no batch
  int places_end = -1;
};

struct ConsumerSnapshot {
  std::int64_t taken = 0;    // elements and errors delivered
  std::int64_t wait_ns = 0;  // time spent waiting inside next()
  std::int64_t waits = 0;    // calls of next() that found nothing ready
  bool waiting = false;      // inside next(), now
  std::int64_t full_ns = 0;  // time in which as many were ready as may be
  // Of the thread that takes elements; -1: not known.
  std::int64_t cpu_ns = -1;    // on a CPU, as of 20 ms ago or less
  std::int64_t delay_ns = -1;  // ready to run, and no core free, as of 100 ms ago or less
  std::int64_t ready = 0;      // elements ready now
  std::int64_t prefetch = 1;   // knob
};

struct Snapshot {
  std::int64_t time_ns = 0;           // since the run began
  std::vector<StageSnapshot> stages;  // source first; none before the first request to the run
  ConsumerSnapshot consumer;          // of the thread that takes the elements
  std::int64_t memory_limit = 0;      // bytes that elements under way may hold
  std::int64_t memory_used = 0;       // bytes that they hold, and that calls under way have reserved
  std::int64_t memory_peak = 0;       // most of these so far
  std::int64_t overshoot_bytes = 0;   // taken beyond what was reserved
  // CPU times; -1: not known. Read every 100 ms (or 1 ms for each thread), at one moment: clocks_ns. What else the
  // process has burnt between two such moments is of threads that are not ours.
  std::int64_t process_cpu_ns = -1;   // of all threads of the process
  std::int64_t workers_cpu_ns = -1;   // of those that penstock runs calls on
  std::int64_t consumer_cpu_ns = -1;  // of the consumer's
  std::int64_t clocks_ns = -1;        // when that was, since the run began
  // of this process that go on, this one included: their calls share the threads of workers_cpu_ns
  std::int64_t runs = 1;
  // CPUs that the run may use: affinity, cgroup quota, its share beside other runs; may be a fraction
  double cpu_budget = 1;
  std::int64_t cpu_slots_in_use = 0;  // by this run; knob.h, cpu_slots
  std::int64_t open_io_limit = 64;    // blocking calls at once, its share beside other runs
};

}  // namespace penstock

#pragma GCC visibility pop
