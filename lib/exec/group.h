// Group: a place in a stage's ring. It holds the slots that are run by one call: one where a call is dear, up to some hundred
// where it takes nanoseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lib/exec/packet.h"

namespace penstock::exec {

class AsyncTarget;

struct Group {
  enum class State : std::uint8_t { waiting, running, done };

  // What a snapshot looks at in every group of the ring comes first: one line of the cache each.
  State state = State::waiting;
  std::int64_t admitted = 0;        // slots of the input: what the window counts
  std::int64_t input_bytes = 0;
  std::int64_t started_ns = 0;
  std::int64_t source_ordinal = -1; // of the first slot when the call began; -1: a source's own call
  Slots slots;                      // the input; after the run, what came of it. While running: the runner's alone
  std::size_t left = 0;             // slots that have left to the next stage
  std::int64_t number = 0;          // groups of a stage count up
  std::int64_t elements = 0;        // of the input, when the call began
  std::int64_t first_ordinal = 0;   // of the first slot among the stage's inputs of this pass
  std::int64_t first_turn = -1;     // of the first slot, in the stage's SlotLedger
  std::int64_t reserved = 0;
  std::int64_t hint = -1;           // bytes of the results as the op foretells them; -1: not asked
  std::int64_t needs = 0;           // bytes that a broken-off call asked for on top
  bool sampled = false;             // its CPU time is read
  bool forced = false;              // started under the rule of progress: its own requests are granted, too
  // A pass end is always a group's last slot: admission ends a group behind it.
  bool has_mark = false;
  std::uint8_t mark_level = 0;
  std::uint32_t mark_sequence = 0;
  std::shared_ptr<AsyncTarget> target;  // its Completion is out

  void clear() {
    Slots keep = std::move(slots);
    keep.clear();
    *this = Group();
    slots = std::move(keep);
  }
};

}  // namespace penstock::exec
