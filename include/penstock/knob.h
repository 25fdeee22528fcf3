// Knob: one number of a running pipeline that may be changed at any moment, from any thread.
//
// A change is effective at once for everything that has not started; nothing is lost, reordered or repeated. Changing a
// knob never changes values or order, only when things happen. A Knob may outlive its run; it then does nothing.
//
//   for (ps::Knob& knob : run.knobs())
//     if (knob.kind == ps::KnobKind::parallelism && !knob.user_fixed) knob.set(8);
//
// | kind        | of     | meaning                                                                           |
// |-------------|--------|-----------------------------------------------------------------------------------|
// | parallelism | stage  | calls of the stage's function that may run at once                                |
// | window      | stage  | elements between the oldest unfinished and the newest started (reordering) *      |
// | buffer      | stage  | elements that may wait at the stage's input *                                     |
// | placement   | stage  | 0: on a CPU slot, 1: on a thread of the pool for calls that block                 |
// | grain_ns    | stage  | work worth a call: cheap elements are grouped to make it, or up to 100 x of it ** |
// | prefetch    | sink   | elements that wait ready for the consumer                                         |
// | memory      | run    | bytes that elements under way may hold                                            |
// | cpu_slots   | run    | calls that compute at once, at most the CPU slots that the run began with         |
// | priority    | run    | of the workers: 0 as the consumer, 1 below it (nice +10) ***                      |
// * Where calls that compute take less than 4 ms and elements are small, more may wait than these knobs say: some
// hundred at a few us.
// ** As far as no thread goes without that has nothing else to do.
// *** Runs share their threads: these give way while all runs of the process wish it. Takes up to 20 ms. Where the
// process may not take a niceness back (it needs CAP_SYS_NICE or RLIMIT_NICE) `high` is 0: workers would have to stay
// at it for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace penstock {

enum class KnobKind : std::uint8_t {
  parallelism,
  window,
  buffer,
  placement,
  grain_ns,
  prefetch,
  memory,
  cpu_slots,
  priority
};

// The enumerator's own name, for example "grain_ns".
std::string_view to_string(KnobKind kind) noexcept;

struct Knob {
  KnobKind kind = KnobKind::parallelism;  // which of them it is
  std::string name;                       // of its kind
  int stage = -1;                         // index into Snapshot::stages; -1: of the sink or the whole run
  std::int64_t low = 1;                   // least value,
  std::int64_t high = 1;                  // and largest
  std::int64_t unit_cost = 0;             // bytes that one more unit holds, as far as known
  bool user_fixed = false;                // the user gave a number: a controller must leave it alone
  std::function<std::int64_t()> get;      // the value now
  std::function<void(std::int64_t)> set;  // values outside [low, high] are brought inside
};

}  // namespace penstock

#pragma GCC visibility pop
