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

  // How many slots the next group takes, where `waiting` slots wait.
  std::int64_t group(std::int64_t waiting) const;
  // How many slots may be under way to this stage or wait in it: the knob `buffer`, or enough for two wide groups where
  // calls are cheap and elements small.
  std::int64_t capacity() const;
  // How many slots may be in the ring: their results have not left.
  std::int64_t most_in_window() const;
  // How many of the slots that wait the next group takes, where so many are in the ring. 0: it is to wait.
  std::int64_t admitted(std::int64_t waiting, std::int64_t in_window) const;
  // Of a nest: how many slots of each dataset may be ready.
  std::int64_t inner_buffer() const;
  // How many elements may begin together although the budget is used up: one, or as many small ones as hold next to
  // nothing, since to begin each by itself costs microseconds.
  std::int64_t forced() const;
  // How many results are worth keeping ready for the consumer (Packet::worth_waiting): many where they come soon and
  // hold little.
  std::int64_t worth_waiting() const;
  // Bytes of the results of one slot, as far as experience tells. Once the limit has been passed, an estimate on the
  // safe side, in stages that reserve.
  double expected_bytes() const {
    return meter_.expected_bytes(traits_.memory.was_overshot() && !traits_.plan.passes_memory_on);
  }
  // Whether the next result comes so soon that a consumer may wait for it.
  bool is_cheap() const noexcept;

 private:
  double worth_a_call() const;
  std::int64_t small_elements(double nanoseconds) const;
  double affordable_bytes() const;

  const StageTraits& traits_;
  const StageSigns& signs_;
  const StageKnobs& knobs_;
  const Meter& meter_;
};

}  // namespace penstock::exec
