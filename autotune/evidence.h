// Evidence: all that an explanation is made of, and what is derived from it first.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <penstock/decision.h>
#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/bounds.h"
#include "autotune/history.h"
#include "autotune/limits.h"
#include "autotune/model.h"

namespace penstock::autotune {

struct Facts {
  Window window;
  std::vector<Decision> decisions;  // oldest first
  std::vector<StageLimits> limits;  // as Policy::limits() has them
  std::vector<Knob> knobs;          // what may be moved; they are not asked where they stand
  bool serial = false;              // RunOptions::serial, or
  bool inside_another_run = false;  // begun inside a function of one
  bool tuned = true;                // RunOptions::tune
};

// Threads that are neither penstock's nor the consumer's.
struct ForeignCpu {
  double cores = kUnknown;
  int stage = -1;            // whose function starts them; -1: not known
  std::int64_t samples = 0;  // pairs of rates that tell so; 0: it is only likely
};

struct Evidence {
  Facts facts;
  Rates rates;                // of the window, and of the run where the window has none
  double workers = kUnknown;  // cores that the threads of our calls use, if no other run does; their calls use no more
  ForeignCpu foreign;         // charged to the stage's CPU time
  std::vector<RateBound> bounds;

  const Snapshot& now() const noexcept { return facts.window.now; }
};

Evidence evidence_of(Facts facts);

// Its calls run on the cores.
inline bool computes(const StageSnapshot& stage) { return !stage.on_pool && !stage.completes_later; }

ForeignCpu foreign_cpu(const Window& window, const Rates& rates);

// Cores, by a sum of CPU times that were read at two moments of the window.
double cores_between_readings(const Window& window, std::int64_t (*used)(const Snapshot&));

// The last move of a knob, null where there is none. A stage of -1 is the run.
const Decision* last_move(const Facts& facts, int stage, KnobKind knob);
const Knob* find_knob(const Facts& facts, int stage, KnobKind kind);

}  // namespace penstock::autotune
