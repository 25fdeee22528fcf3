// One run of a scenario in real time.
#pragma once

#include <penstock/decision.h>

#include <string>
#include <vector>

#include "bench/meter.h"
#include "lib/runtime/start_run.h"
#include "tests/exam/run_record.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

// What was seen of it, and what others did meanwhile.
struct RealRun {
  RunRecord record;
  std::vector<Decision> decisions;  // the last 256
  bench::Cost cost;
  double mean_waiting_calls = 0;
  double foreign_cpu = 0;  // CPU time of others, as a share of all CPUs' time
};

// Takes as long as the scenario. Uses the calling thread as the consumer. `pictures`: a folder, for chains of pictures
// alone.
RealRun run_real(const Scenario& scenario, const runtime::PolicyMaker& make_policy, const std::string& pictures);

// The consumer's step without any pipeline: its 95th percentile in ns, over a second.
double step_alone_ns(const Scenario& scenario);

}  // namespace penstock::exam
