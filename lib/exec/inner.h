// Inner: what a group of a nest stands for: an element's dataset, from its opening to its last slot (Lanes).
//
// Its calls run one after the other. What they have made and has not left is `out`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "lib/core/left_out.h"
#include "lib/exec/packet.h"

namespace penstock::exec {

class InnerDataset;

struct Inner {
  Inner(const Stamp& element, std::int64_t in_pass);
  ~Inner();

  // While a call runs, these are its thread's.
  std::unique_ptr<InnerDataset> dataset;  // null: not opened yet, or it has ended
  bool was_opened = false;
  bool has_ended = false;
  LeftOut again;                // what had left before the run was resumed
  std::int64_t held_bytes = 0;  // by the ops of the dataset
  std::int64_t opening_ns = 0;  // that the call took to open it

  // By who cancels the call, without the lock: for whoever waits in there.
  std::stop_source stop;

  // With the stage's lock held. The call reads `wanted` and `grain_ns`, which nobody changes meanwhile.
  const Stamp stamp;          // of the element
  const std::int64_t pass;    // of the nest's input, counted from 0 over the whole run
  std::int64_t wanted = 1;    // slots that the call may make
  std::int64_t grain_ns = 0;  // and for how long
  Slots out;
  std::size_t left = 0;           // of `out`, to the next stage
  SlotCount through;              // inputs up to it and with it (LaneSaves)
  SlotCount given;                // slots that have left, in this run or before
  bool has_part_out = false;      // results of a call have left it in front of the others, and are to come into `out`
  Slots behind_part;              // those others, if the call has ended meanwhile
  std::int64_t out_bytes = 0;     // of the rest
  std::int64_t charged_held = 0;  // of held_bytes
  bool is_counted = false;        // by the meter, as opened

  bool has_slot() const noexcept { return left < out.size(); }
  void add(Slots& slots);
  // At the end of a run: nothing is counted any more.
  Slots let_go() noexcept {
    left = 0;
    return std::exchange(out, {});
  }
  std::int64_t ready() const noexcept { return static_cast<std::int64_t>(out.size() - left); }
};

}  // namespace penstock::exec
