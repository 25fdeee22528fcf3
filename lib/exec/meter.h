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
#include "lib/exec/seal.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

class Meter {
 public:
  explicit Meter(const StageTraits& traits);

  StageSnapshot counters;  // as they are shown, with what never changes of a snapshot

  // Integrates what held since the last event; called before each.
  void account(std::int64_t now, std::int64_t running, bool is_starved, bool is_blocked) noexcept;
  std::int64_t accounted_until() const noexcept { return accounted_until_; }

  // Of a call that begins: whether its CPU time is to be read. As many as there are, one each few ms is.
  bool sample_now(const Group& group) noexcept;
  void count_use(const ThreadUse& use) noexcept;
  // What the op holds from now on; how much more than before.
  std::int64_t count_held(std::int64_t bytes) noexcept;
  void count_results(const Sealed& results);
  // Of a call that has ended. `inputs`: those that have not left in parts, whose share of the time was as long.
  void learn(const Group& group, std::int64_t inputs, std::int64_t output_bytes, std::int64_t now) noexcept;

  // Of one slot; 0 until a call has ended.
  double ns_per_slot() const noexcept { return ns_per_slot_; }
  double input_bytes() const noexcept { return input_bytes_; }
  double bytes() const noexcept { return bytes_; }  // of its results
  // Of one slot's results, as far as experience tells. Careful: of a large one.
  double expected_bytes(bool careful) const noexcept { return careful ? std::max(largest_bytes_, bytes_) : bytes_; }
  // Of one input, as far as experience tells; at least `least`.
  double results_each(double least) const noexcept;

  void describe(std::int64_t now, std::int64_t running, StageSnapshot& out) const;

 private:
  std::int64_t required_bytes(std::int64_t elements) const noexcept;

  const StageTraits& traits_;
  double ns_per_slot_ = 0;
  double bytes_ = 0;
  double input_bytes_ = 0;
  double largest_bytes_ = 0;  // what a careful stage reserves. It comes back to the average
  std::int64_t made_ = 0;     // elements, of the inputs that counters.completed counts
  std::int64_t held_bytes_ = 0;
  std::int64_t accounted_until_;
  std::int64_t last_call_ns_;  // when the last one began
  double between_calls_ns_ = 0;
};

}  // namespace penstock::exec
