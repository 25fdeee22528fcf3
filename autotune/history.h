// History: the last seconds of a run: a snapshot now and then, and what was seen at the looks between them.
//
// Counters tell what happened between two snapshots; that a stage waits for memory is a state, and only many looks tell
// how often.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <penstock/snapshot.h>

namespace penstock::autotune {

// In how many looks a state was seen.
struct StageLooks {
  std::int64_t memory = 0;  // it waits for memory
  // no call may start, because the oldest one is not done, or a nest may open no more, though calls are allowed and
  // results have room
  std::int64_t window = 0;
  std::int64_t calls = 0;  // sum of how many were allowed at once
};

struct Looks {
  std::int64_t count = 0;
  double cpu_permits = 0, memory = 0;  // sums of what was in use
  std::vector<StageLooks> stages;

  void add(const Snapshot& now);
  void add(const Looks& others);
};

struct Window {
  Snapshot before, now;
  Looks looks;
  std::vector<std::shared_ptr<const Snapshot>> steps;  // all that is remembered, oldest first
};

// Of one run. Not thread-safe.
class History {
 public:
  void look(const Snapshot& now);  // often; a few microseconds, and every 250 ms a copy

  // What an explanation is about: half a second where enough has been delivered in it, at most the last 4 s.
  Window recent(const Snapshot& now) const;
  Window whole(const Snapshot& now) const;  // since the run began

 private:
  struct Period {
    std::shared_ptr<const Snapshot> begin;
    Looks looks;
  };
  std::deque<Period> periods_;
  Looks all_;
};

}  // namespace penstock::autotune
