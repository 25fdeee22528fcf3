// Snapshot: everything that is measured about a running pipeline. Counters only grow; take two and subtract.
// Taking one costs a few microseconds and stops nothing. All times are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

struct StageSnapshot {
  std::string name;                    // op names of the stage, "shard+shuffle" when fused
  int position = 0;                    // of its first op in the chain
  bool parallel = false;               // calls may run at once
  bool completes_later = false;
  bool form_is_known = false;          // the user said whether it blocks; else a controller may move it
  // knobs
  std::int64_t parallelism = 1, window = 1, buffer = 1, grain_ns = 0;
  bool on_pool = false;
  // now
  std::int64_t running = 0;            // calls in flight
  std::int64_t ready = 0;              // elements waiting to start
  std::int64_t waiting_input = 0;      // elements received, not yet admitted
  std::int64_t in_window = 0;          // admitted, not yet left
  std::int64_t credits = 0;            // elements the next stage will take at once
  std::int64_t bytes_held = 0;
  std::int64_t bytes_required = 0;     // that it must hold to make progress: a batch of elements, a shuffle's buffer
  std::int64_t oldest_call_ns = 0;     // age of the oldest call in flight
  std::int64_t oldest_call_ordinal = -1;  // position in the source of that call's first element; -1: no call, or a source's own
  std::int64_t median_call_ns = 0;
  bool waits_for_memory = false;
  bool waits_for_cpu_slot = false;
  // since the start
  std::int64_t elements_in = 0, elements_out = 0, errors = 0, dropped = 0;
  std::int64_t calls = 0;              // groups of elements run
  std::int64_t completed = 0;          // elements run
  std::int64_t slot_ns = 0;            // integral of calls in flight over time, unfinished ones included
  std::int64_t sampled_wall_ns = 0, sampled_cpu_ns = 0, samples = 0;  // of calls whose CPU time was read
  std::int64_t samples_that_waited = 0;  // of these, calls that gave the CPU up by themselves: they block, they were not preempted
  std::int64_t starved_ns = 0;         // a call could have started, but there was no input
  std::int64_t blocked_ns = 0;         // finished elements could not leave
  std::int64_t bytes_out = 0;
};

struct ConsumerSnapshot {
  std::int64_t taken = 0;              // elements and errors delivered
  std::int64_t wait_ns = 0;            // time spent waiting inside next()
  std::int64_t waits = 0;              // calls of next() that found nothing ready
  bool waiting = false;
  std::int64_t ready = 0;              // elements ready now
  std::int64_t prefetch = 1;           // knob
};

struct Snapshot {
  std::int64_t time_ns = 0;            // since the run began
  std::vector<StageSnapshot> stages;   // source first
  ConsumerSnapshot consumer;
  std::int64_t memory_limit = 0, memory_used = 0, memory_peak = 0;
  std::int64_t overshoot_bytes = 0;    // taken beyond what was reserved
  double cpu_budget = 1;               // CPU slots of the process
  std::int64_t cpu_slots_in_use = 0;
  std::int64_t open_io_limit = 64;     // blocking calls at once
};

}  // namespace penstock

#pragma GCC visibility pop
