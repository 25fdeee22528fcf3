// Scenario: what the exam asks, as data: a process, how long it runs, and the bars. See README.md in bench/ for the
// table.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/exam/spec.h"

namespace penstock::exam {

inline constexpr double kMs = 1e6;  // ns

inline constexpr double kNoBar = std::numeric_limits<double>::infinity();

// What is asked of the controller. Ratios are to the oracle's.
struct Bars {
  double x = 0.97;                  // rate, at least
  double yield = 0;                 // delivered from the first moment on, at least
  double t90_s = kNoBar;            // until 90 % of the rate, from the start, at most
  double recover_s = kNoBar;        // the same after each change of the world
  double reaches_s = kNoBar;        // until the rate of two seconds is `x` of the best, from the start, at most
  double bytes = kNoBar;            // at most; twice the oracle's and 32 MiB in any case
  double cpu = kNoBar;              // per element, at most
  double in_flight = kNoBar;        // calls that wait, at any time
  double in_flight_later = kNoBar;  // the same, the median after 15 s
  double in_flight_after_5s = kNoBar;
  double parallelism = kNoBar;      // calls under way of any kind, after 5 s
  double step_p95 = kNoBar;         // of the consumer's step, as a ratio to that of one that is alone
  double depth_at_end = kNoBar;     // prefetch, 20 s after the last change of the world
  double gives_back_s = kNoBar;     // half of the calls beyond what is needed, after the last change of the world
  double back_as_before = kNoBar;   // CPU and bytes of the last phase from 10 s on, as a ratio to the first one's
  double changes_per_min = kNoBar;  // after 60 s
  double worst_second =
      0;  // rate of any second in which a knob has moved, as a ratio to the mean, at least; after 60 s
  double below_best_s = kNoBar;  // seconds in a row more than 15 % below its own best
  double drift = kNoBar;         // of the CPU time of a call as the controller sees it, from phase to phase
  // after the last change of the world, until explain() names what limits the run then; where it is asked
  double explained_s = kNoBar;
  int warns_of_threads_in = -1;  // a stage: explain() says that it starts threads of its own
};

struct Scenario {
  std::string id;  // "S14u" is a variant of S14
  std::string what;
  ProcessSpec process;
  Time duration = 30 * kSecond;
  Bars bars;
};

std::vector<Scenario> all_scenarios();

// Moments when the world changes; the first is 0.
std::vector<Time> phases(const Scenario& scenario);
// The world as it is at that time, for ever.
ProcessSpec frozen_at(const ProcessSpec& spec, Time time);
// The same exam with other constants: service times and the consumer's times, and sizes (of elements and of the
// memory).
Scenario scaled(const Scenario& scenario, double times, double sizes);

}  // namespace penstock::exam
