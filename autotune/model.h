// Model: what two snapshots say about the pipeline between them: rates and times of a call.
//
// Names follow the equations of README.md. Rates are per second, times of a call in seconds, all per element of the
// stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <penstock/snapshot.h>

namespace penstock::autotune {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct StageRates {
  std::int64_t completed = 0;       // N: elements finished; the sample count of what follows
  std::int64_t samples = 0;         // calls whose CPU time was read
  double rate = 0;                  // X = N / time
  double in_flight = 0;             // A / time: calls under way, on average
  double busy = 0;                  // of the calls that are allowed, the share under way
  double starved = 0, blocked = 0;  // shares of the time
  // s = A / N: Little's law; counts the unfinished calls, unlike an average of the finished ones
  double call_s = kUnknown;
  double cpu_s = kUnknown;      // k: on a CPU
  double delay_s = kUnknown;    // r: ready to run, and no core free
  double waiting_s = kUnknown;  // w = s - k - r: truly blocked
  double bytes = kUnknown;      // of one result
  double visits = kUnknown;     // v: elements of this stage per element that the consumer takes
};

struct Rates {
  double seconds = 0;
  double delivered = 0;  // elements/s that the consumer took
  std::int64_t taken = 0;
  double wait_share = 0;       // omega: of the consumer's time
  double demand = kUnbounded;  // lambda: what it would take if it never waited
  double cpu_in_use = 0;       // cores, sum of X k
  double consumer_cpu_s = 0;   // of the consumer's own thread, per element delivered; 0 where it is not known
  std::vector<StageRates> stages;
};

// What is remembered of a stage between two looks: a snapshot of it is much larger.
struct StageCounts {
  std::int64_t completed = 0, made = 0, bytes_out = 0;
  std::int64_t slot_ns = 0, starved_ns = 0, blocked_ns = 0;
  std::int64_t samples = 0, sampled_elements = 0, sampled_wall_ns = 0, sampled_cpu_ns = 0, sampled_delay_ns = 0,
               sampling_ns = 0;
};
StageCounts counts_of(const StageSnapshot& stage);

StageRates stage_rates(const StageCounts& before, const StageSnapshot& now, double seconds);

// A stage that finished nothing in between has unknown times.
Rates rates_between(const Snapshot& before, const Snapshot& now);

// Of a stage, in numbers of elements.
struct Ratios {
  double results = 1;  // that it makes of one that it takes
  double share = 1;    // that it gives for one that the stage which it feeds takes: 0.1 for a tenth of a mixture
};

double ratio_or_one(double part, double whole);  // one where either is not known yet
// At most one: what has been read ahead for a merge is no share of it. Never 0: rates and times are divided by visits.
double share_or_one(double part, double whole);

// Of each stage, whether others feed the same one.
std::vector<bool> feed_merges(const Snapshot& now);

// Visits of each stage, from the consumer backwards: what a stage gives per element delivered is what the one that it
// feeds takes, or its share of that.
void visits_of(const Snapshot& now, const std::vector<Ratios>& ratios, std::vector<double>& visits);

// On average since the start; 0: it has made none.
std::int64_t bytes_of_result(const StageSnapshot& stage);

}  // namespace penstock::autotune
