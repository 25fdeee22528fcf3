// Group: a place in a stage's ring. It holds the slots that are run by one call: one where a call is dear, up to some hundred
// where it takes nanoseconds.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "lib/exec/open_call.h"
#include "lib/exec/packet.h"

namespace penstock::exec {

class AsyncTarget;

inline constexpr std::int64_t kLargestGroup = 512;  // slots

struct Group {
  enum class State : std::uint8_t { waiting, running, done };
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

  // What a snapshot looks at in every group of the ring comes first: one line of the cache each.
  State state = State::waiting;
  std::int64_t admitted = 0;        // slots of the input: what the window counts
  std::int64_t input_bytes = 0;
  std::int64_t folded_bytes = 0;    // of `folded`;
  std::int64_t hollow_bytes = 0;    // of these, what no result that is left holds: Sealed::hollow
  std::int64_t started_ns = 0;
  std::int64_t source_ordinal = -1; // of the first slot when the call began; -1: a source's own call
  Slots slots;                      // the input; after the run, what came of it. While running: the runner's alone
  Slots results;                    // of a stream op, while it runs
  Slots rest;                       // inputs that the call gave back, with nothing done to them
  // After the run, where elements have become more than one part of results: those whose results have not all got their slots, and what is behind them.
  Slots folded;
  std::size_t unfolded = 0;         // results of the first of them that have
  std::size_t placed = 0;           // answers before them
  bool is_unfolding = false;        // once more: the body has run before
  bool is_flush = false;            // a stream op has more to give before this group's mark: when what it gave has left
  std::unique_ptr<OpenCall> call;   // of the calls over several slots that this group has been; kept for its storage
  bool was_opened = false;          // by this call, which has not been closed yet
  std::size_t taken = 0;            // results that have left before the call closed, as groups of their own
  bool came_back = false;           // a call that took long gave it back: it is run in steps of the size that is right by now
  bool is_part = false;             // such a group: its call goes on
  std::int64_t ran = 0;             // inputs of the call, without the rest
  std::size_t left = 0;             // slots that have left to the next stage
  std::int64_t number = 0;          // groups of a stage count up
  std::int64_t elements = 0;        // of the input, when the call began
  std::int64_t first_ordinal = 0;   // of the first slot among the stage's inputs of this pass
  std::int64_t first_turn = -1;     // of the first slot, in the stage's SlotLedger
  std::int64_t reserved = 0;
  std::int64_t reserved_since = 0;  // on top, while it ran: by others, with the stage's lock held
  std::int64_t hint = -1;           // bytes of the results as the op foretells them; -1: not asked
  std::int64_t needs = 0;           // bytes that a broken-off call asked for on top
  int thread = 0;                   // that runs it; Machine::thread_number(). 0: none, it is a part of another one
  std::uint64_t sequence = 0;       // of the pass that its slots are of
  bool is_unwanted = false;         // a stage further down has enough of that pass: set and read while it runs, by std::atomic_ref
  bool sampled = false;             // its CPU time is read:
  std::int64_t sampling_ns = 0;     // so long of the time since started_ns
  std::int64_t awake_ns = kAlways;  // on a CPU, or ready to run; kAlways: it never gave the CPU up by itself, as far as is known
  bool forced = false;              // started under the rule of progress: its own requests are granted, too
  // A pass end is always a group's last slot: admission ends a group behind it.
  bool has_mark = false;
  std::uint8_t mark_level = 0;
  std::uint64_t mark_sequence = 0;
  std::shared_ptr<AsyncTarget> target;  // its Completion is out

  bool is_open() const noexcept { return call != nullptr && call->goes_on(); }  // for the thread that runs it

  // By another thread, with the stage's lock held: a call that is under way is to return as soon as the element that it is at is done.
  void want_back() noexcept {
    if (state == State::running && call) call->progress.is_wanted_back.store(true, std::memory_order_relaxed);
  }

  // By the call: inputs from number `from` on have not been touched.
  void give_back(std::size_t from) {
    ran = static_cast<std::int64_t>(from);
    if (from == slots.size()) return;
    const auto first = slots.begin() + static_cast<std::ptrdiff_t>(from);
    rest.assign(std::make_move_iterator(first), std::make_move_iterator(slots.end()));
    slots.resize(from);
  }

  void clear() {
    Group fresh;
    keep(slots, fresh.slots);
    keep(results, fresh.results);
    fresh.call = std::move(call);
    *this = std::move(fresh);
  }

 private:
  static constexpr std::size_t kKept = 256;  // slots: of many groups, what each keeps adds up

  static void keep(Slots& storage, Slots& to) {
    if (storage.capacity() > kKept) return;
    storage.clear();
    to = std::move(storage);
  }
};

}  // namespace penstock::exec
