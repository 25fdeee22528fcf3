// Policy: whoever moves the knobs of a run. It sees snapshots and knobs, nothing else, so that a recorded log can be
// replayed.
//
// One object per run. tick() is called by the controller's thread, every kPeriod or, while the policies of all runs are
// calm, every kCalmPeriod; never by two threads at once. It must not block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/decision_log.h"
#include "autotune/limits.h"

namespace penstock::autotune {

// Where a knob stood.
struct KnobValue {
  int stage = -1;
  std::string knob;
  std::int64_t value = 0;
};

class Policy {
 public:
  static constexpr std::int64_t kPeriod = 10'000'000, kCalmPeriod = 2 * kPeriod;  // ns between two calls of tick()

  virtual ~Policy() = default;
  // Before the first tick: moves knobs to where another run of the same pipeline has left them. `open_io`: threads that
  // its stages may have together (RunOptions::open_io); the other run may have had more.
  void begin_at(const std::vector<KnobValue>& remembered, std::vector<Knob>& knobs, std::int64_t open_io);
  // Looks at what has happened since the last call and moves knobs that the user has not fixed. `knobs` are the same
  // ones each time.
  virtual void tick(const Snapshot& now, std::vector<Knob>& knobs) = 0;
  // Nothing has been moved for a while: the next call of tick() may come after kCalmPeriod. `time_ns`: that of the last
  // snapshot.
  bool is_calm(std::int64_t time_ns) const noexcept;
  // By stage; shorter where a policy knows nothing.
  const std::vector<StageLimits>& limits() const noexcept { return limits_; }

  const DecisionLog& log() const noexcept { return log_; }

 protected:
  // Moves a knob of a user who has not fixed it, as far as its bounds allow, and notes why. Returns where it stands
  // now.
  std::int64_t move(Knob& knob, std::int64_t to, Reason reason, const Snapshot& now, std::int64_t wanted);
  std::int64_t move(Knob& knob, std::int64_t to, Reason reason, const Snapshot& now) {
    return move(knob, to, reason, now, to);
  }
  StageLimits& limits_of(std::size_t stage);

 private:
  DecisionLog log_;
  std::int64_t moved_ns_ = 0;  // time of the last move
  std::vector<StageLimits> limits_;
};

// By name: "penstock", or one of those that it is compared with:
//   cores      every call count at the number of CPU permits (what tf.data starts with)
//   tf-max10   every call count at ten times that
//   tf-hill    hill climbing on a queueing model fed by lifetime averages, first after 10 ms, later every 60 s, as
//              tf.data does
//   static:N   every call count at N
//   none       nothing is ever moved
// Null for any other name.
std::unique_ptr<Policy> make_policy(std::string_view name);

// make_policy("penstock")
std::unique_ptr<Policy> default_policy();

}  // namespace penstock::autotune
