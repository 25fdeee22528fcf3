// Group: a place in a stage's ring. It holds the slots that are run by one call: one where a call is dear, up to some
// hundred where it takes nanoseconds.
//
// Thread safety: with the stage's lock held. While it runs, its lists are the running thread's alone; what an open call
// shares has OpenCall::mutex.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "lib/exec/call_memory.h"
#include "lib/exec/call_sample.h"
#include "lib/exec/folded_results.h"
#include "lib/exec/inner.h"
#include "lib/exec/input_counts.h"
#include "lib/exec/input_place.h"
#include "lib/exec/open_call.h"
#include "lib/exec/packet.h"
#include "lib/exec/pass_end.h"

namespace penstock::exec {

class AsyncTarget;

inline constexpr std::int64_t kLargestGroup = 512;  // slots

struct Group {
  enum class State : std::uint8_t { waiting, running, done };
  enum class Kind : std::uint8_t {
    inputs,     // that were admitted together
    came_back,  // inputs that a call which took long gave back: they are run in steps of the size that is right by now
    flush,      // a stream op has more to give before this group's mark: it is asked when what it gave has left
    part,       // results that leave a call while it goes on
  };
  // The call as others see it.
  struct Start {
    std::int64_t ns = 0;
    std::int64_t ordinal = -1;  // of the first slot in its source; -1: a source's own call
    int thread = 0;             // Machine::thread_number() of the one that runs it. 0: none, this is a part
    int source = 0;             // Stamp::source of the first slot
  };
  // Inputs that the call gave back, with nothing done to them.
  struct Rest {
    Slots slots;
    std::int64_t begin = 0;  // how many inputs of the call come before them
    bool is_flush = false;   // the first one is a mark, and the op has more to give before it
  };

  // What a snapshot looks at in every group of the ring comes first, 64 bytes up to folded.bytes: one line of the cache
  // each.
  State state = State::waiting;
  Kind kind = Kind::inputs;
  // a stage further down has enough of its pass: set and read while it runs, by std::atomic_ref
  bool is_unwanted = false;
  InputCounts inputs;
  Start start;
  FoldedResults folded;
  Slots slots;    // the input; after the run, what came of it
  Slots results;  // of a stream op, while it runs
  Rest rest;
  std::unique_ptr<OpenCall> call;  // of the calls over several slots that this group has been; kept for its storage
  // answers that were in front of the first slot and have left: in parts of the call, or before it was unfolded
  std::size_t taken = 0;
  std::size_t left = 0;  // slots that have left to the next stage
  InputPlace place;
  CallMemory memory;
  CallSample sample;
  std::optional<PassEnd> mark;          // its last slot
  std::shared_ptr<AsyncTarget> target;  // its Completion is out
  std::unique_ptr<Inner> inner;         // of a nest, unless it is a mark alone
  std::int64_t errors_inside = 0;       // that its call has made of failures, and nobody has counted

  bool is_open() const noexcept { return call != nullptr && call->goes_on(); }  // for the thread that runs it

  // By another thread, with the stage's lock held: asks a call that is under way to return as soon as it is done with
  // its present element.
  void want_back() noexcept {
    if (state == State::running && call) call->progress.is_wanted_back.store(true, std::memory_order_relaxed);
  }

  // By the call: inputs from number `from` on have not been touched.
  void give_back(std::size_t from, bool is_flush = false) {
    rest.begin = static_cast<std::int64_t>(from);
    rest.is_flush = is_flush;
    if (from == slots.size()) return;
    const auto first = slots.begin() + static_cast<std::ptrdiff_t>(from);
    rest.slots.assign(std::make_move_iterator(first), std::make_move_iterator(slots.end()));
    slots.resize(from);
  }

  // In place: to move a whole group costs more than to make one.
  void clear() {
    Slots kept_slots = storage_of(slots);
    Slots kept_results = storage_of(results);
    auto kept_call = std::move(call);
    std::destroy_at(this);
    std::construct_at(this);
    slots.swap(kept_slots);
    results.swap(kept_results);
    call = std::move(kept_call);
  }

 private:
  static constexpr std::size_t kKept = 256;  // slots: of many groups, what each keeps adds up

  static Slots storage_of(Slots& list) noexcept {
    if (list.capacity() > kKept) return {};
    list.clear();
    return std::move(list);
  }
};

}  // namespace penstock::exec
