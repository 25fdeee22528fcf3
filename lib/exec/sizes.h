// Sizes: how many elements a stage takes at once, keeps ready, and lets be under way, where that is not simply a knob.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>

#include "lib/exec/meter.h"
#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

// The stage's calls need no CPU while under way.
inline bool waits(const StageTraits& traits, const StageSigns& signs) noexcept {
  return signs.on_pool || traits.plan.form == Form::completes_later;
}

class Sizes {
 public:
  Sizes(const StageTraits& traits, const StageSigns& signs, const StageKnobs& knobs, const Meter& meter)
      : traits_(traits), signs_(signs), knobs_(knobs), meter_(meter) {}

  // Slots that make up one step of work, where so many wait.
  std::int64_t group(std::int64_t waiting) const;
  // Slots that may be under way to this stage or wait in it: the knob, or two wide steps of cheap calls on small
  // elements.
  std::int64_t capacity() const;
  // Slots whose results have not left.
  std::int64_t most_in_window() const;
  // Elements that begin though the budget is used up: one, or as many small ones as hold next to nothing, for to begin
  // each by itself costs microseconds.
  std::int64_t forced() const;
  // Results that are made soon enough to wait for, as far as memory does not count.
  std::int64_t worth_waiting() const;
  // Of one slot's results, as far as experience tells; careful once the limit has been passed, where it is this stage's
  // to be.
  double expected_bytes() const {
    return meter_.expected_bytes(traits_.memory.was_overshot() && !traits_.plan.passes_memory_on);
  }
  // Whether the next result comes so soon that a consumer may wait for it.
  bool is_cheap() const noexcept;

 private:
  std::int64_t small_elements(double nanoseconds) const;
  double affordable_bytes() const;

  const StageTraits& traits_;
  const StageSigns& signs_;
  const StageKnobs& knobs_;
  const Meter& meter_;
};

}  // namespace penstock::exec
