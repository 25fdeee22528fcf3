// OpenCall: a call over several slots, as seen from outside while it goes on.
//
// Its first results leave before it returns (Parts::take), and what it has not begun is given back when it is asked
// for. So an element that is done never waits for one that takes long, though both share a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <penstock/op.h>

#include "lib/base/mutex.h"
#include "lib/exec/packet.h"

namespace penstock::exec {

// ns: the widest step. Of a call that takes longer, what it has not begun is for others.
inline constexpr std::int64_t kLongCall = 2'000'000;

struct OpenCall {
  detail::CallProgress progress;

  // Guards the list of results as a whole, too: it is held while results are taken out, while the list moves because it
  // grows, and when the call closes. Results before progress.answered that are not taken yet belong to whoever holds
  // this; those behind belong to the running thread alone.
  Mutex mutex;
  bool is_open GUARDED_BY(mutex) = false;
  // one of StageSigns::open_calls; the running thread's: until it has taken note that the call is closed
  bool is_counted = false;
  std::size_t taken GUARDED_BY(mutex) = 0;    // results that have left
  std::size_t planned GUARDED_BY(mutex) = 0;  // slots that the call was made for

  // `is_over`: before the call began, stop was asked for or the pass became unwanted. Needs the stage's lock, not the
  // mutex: nobody else looks at this call yet.
  void open(std::size_t slots, bool is_over) NO_THREAD_SAFETY_ANALYSIS {
    progress.answered.store(0, std::memory_order_relaxed);
    progress.is_wanted_back.store(is_over, std::memory_order_relaxed);
    is_open = true;
    taken = 0;
    planned = slots;
    is_counted = true;
  }
  // By the running thread: from now on nobody takes results out. Returns how many have left.
  std::size_t close() {
    MutexLock lock(mutex);
    is_open = false;
    return taken;
  }
  // For the running thread, which alone writes it meanwhile.
  bool goes_on() const noexcept NO_THREAD_SAFETY_ANALYSIS { return is_open; }
  // By the running thread: these are the next results, and may leave. The list may move.
  void add(Slots& results, Slots& made) REQUIRES(mutex) {
    std::move(made.begin(), made.end(), std::back_inserter(results));
    made.clear();
    progress.answered.store(results.size(), std::memory_order_release);
  }
  // Moves what may leave out of `results`.
  void take(Slots& results, Slots& out) REQUIRES(mutex) {
    const std::size_t answered = progress.answered.load(std::memory_order_acquire);
    if (!is_open || answered <= taken) return;
    Slot* const first = results.data();
    std::move(first + taken, first + answered, std::back_inserter(out));
    taken = answered;
  }
};

}  // namespace penstock::exec
