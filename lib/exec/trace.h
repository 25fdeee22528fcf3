// Trace: what happened in a run, call by call, in the order of time. There is room for some 64 MiB; what comes later is
// only counted.
//
// Off, it costs a look at a null pointer for each call; on, some 0.2 us.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <penstock/snapshot.h>

#include "lib/base/mutex.h"
#include "lib/core/machine.h"
#include "lib/exec/brief_mutex.h"
#include "lib/exec/packet.h"

namespace penstock::exec {

class Trace {
 public:
  struct Room {
    std::size_t spans = 250'000;
    std::size_t keys = 2'000'000;
    std::size_t looks = 40'000;  // one in 10 ms: 400 s at least
  };
  Trace() : Trace(Room{}) {}
  explicit Trace(const Room& room) : room_(room) {}

  // An element by its place in the source, as good as unique: stages and the consumer know it by the same one.
  using Key = std::uint64_t;
  static Key key_of(const Stamp& stamp) noexcept;
  static std::vector<Key> keys_of(const Slots& slots);  // of elements

  struct Span {
    enum class Kind : std::uint8_t {
      call,        // a stage's function
      pool_call,   // the same, on a thread of the pool
      later_call,  // from the start of a call that completes later to its end: on no thread
      step,        // the consumer, from the moment it takes elements to its next request
      wait,        // the consumer finds nothing
    };
    Kind kind = Kind::call;
    int stage = -1;                         // -1: the consumer
    std::int64_t thread = 0;                // Machine::thread_number()
    std::int64_t begin_ns = 0, end_ns = 0;  // by Machine::now()
    std::int64_t elements = 0;
    std::vector<Key> keys = {};  // of these elements; none: not known
  };
  // What stands where, as a snapshot has it.
  struct Look {
    struct OfStage {
      std::int64_t running = 0, waiting = 0;
    };
    std::int64_t time_ns = 0;  // since the run began
    std::vector<OfStage> stages;
    std::int64_t ready = 0, memory = 0, permits = 0;
  };

  void add(Span span) EXCLUDES(mutex_);  // any thread
  void look(const Snapshot& now) EXCLUDES(mutex_);

  void close() EXCLUDES(mutex_);  // what comes from now on is forgotten

  // After close(): nothing changes any more, so no lock.
  const std::deque<Span>& spans() const noexcept NO_THREAD_SAFETY_ANALYSIS { return spans_; }
  const std::deque<Look>& looks() const noexcept NO_THREAD_SAFETY_ANALYSIS { return looks_; }
  std::int64_t dropped() const noexcept { return dropped_; }  // spans and looks for which there was no room

 private:
  const Room room_;
  BriefMutex mutex_;
  std::deque<Span> spans_ GUARDED_BY(mutex_);
  std::deque<Look> looks_ GUARDED_BY(mutex_);
  std::size_t keys_ GUARDED_BY(mutex_) = 0;
  std::atomic<std::int64_t> dropped_{0};
  std::atomic<bool> is_full_{false};  // of spans: then nobody takes the lock in vain
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

// The consumer's side: what it does between one request and the next. Its thread only.
class StepTrace {
 public:
  explicit StepTrace(const Machine& machine) : machine_(machine) {}

  void set(Trace* trace) noexcept { trace_ = trace; }
  void begin(const Slots& taken);
  void end();
  void waited(std::int64_t from_ns) const;

 private:
  const Machine& machine_;
  Trace* trace_ = nullptr;
  std::optional<Trace::Span> step_;
};

}  // namespace penstock::exec
