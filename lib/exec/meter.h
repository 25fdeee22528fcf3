// Meter: what a stage knows of its calls: the counters of its snapshots, and what a call on one more element is likely
// to take.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <algorithm>
#include <cstdint>

#include <penstock/snapshot.h>

#include "lib/core/call_clock.h"
#include "lib/exec/group.h"
#include "lib/exec/inner.h"
#include "lib/exec/seal.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

class Meter {
 public:
  explicit Meter(const StageTraits& traits);

  StageSnapshot counters;  // as they are shown, with what never changes of a snapshot

  // Adds the time since the last event to the counters, for the state that held since then. Called before each event.
  void account(std::int64_t now, std::int64_t running, bool is_starved, bool is_blocked) noexcept;
  std::int64_t accounted_until() const noexcept { return accounted_until_; }

  // For a call that begins: whether its CPU time is to be read. It is read once in a few ms, however many calls there
  // are.
  bool sample_now(const Group& group) noexcept;
  void count_use(const ThreadUse& use) noexcept;
  // The op holds `bytes` from now on. Returns how much more that is than before.
  std::int64_t count_held(std::int64_t bytes) noexcept;
  void count_results(const Sealed& results);
  // A call of a nest has ended, on this dataset. It is the last one if that has ended.
  void count_dataset(Inner& inner) noexcept;
  // From a call that has ended. `inputs`: those that have not left in parts. An input that has left in a part is taken
  // to have needed as much time as one of these.
  void learn(const Group& group, std::int64_t inputs, std::int64_t output_bytes, std::int64_t now) noexcept;

  // Time of a call for one slot; 0 until a call has ended.
  double ns_per_slot() const noexcept { return ns_per_slot_; }
  double input_bytes() const noexcept { return input_bytes_; }
  double bytes() const noexcept { return bytes_; }  // of its results
  // Bytes of the results of one slot, as far as experience tells: on average, or, if `careful`, those of a large one.
  double expected_bytes(bool careful) const noexcept {
    // what the type tells, also where many inputs have become nothing, or errors
    const double least = std::max(bytes_, static_cast<double>(traits_.plan.gives.bytes));
    return careful ? std::max(largest_bytes_, least) : least;
  }
  // Of one input, as far as experience tells; at least `least`.
  double results_each(double least) const noexcept;

  void describe(std::int64_t now, std::int64_t running, StageSnapshot& out) const;

 private:
  std::int64_t required_bytes(std::int64_t elements) const noexcept;

  const StageTraits& traits_;
  double ns_per_slot_ = 0;
  double bytes_ = 0;
  double input_bytes_ = 0;
  double largest_bytes_ = 0;  // what a careful stage reserves: falls back to the average with time
  std::int64_t made_ = 0;     // elements, of the inputs that counters.completed counts
  std::int64_t held_bytes_ = 0;
  std::int64_t accounted_until_;
  std::int64_t last_call_ns_;  // when the last one began
  double between_calls_ns_ = 0;
};

}  // namespace penstock::exec
