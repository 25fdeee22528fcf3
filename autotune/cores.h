// Cores: who uses them, in the time that an explanation is about.
#pragma once

#include "autotune/evidence.h"

namespace penstock::autotune {

// That the pipeline uses: the threads of its calls, and threads that these start. Where other runs share the threads,
// the calls alone. NaN: no clock was read.
double cores_in_use(const Evidence& evidence);

// That the consumer's own thread uses; NaN: not known.
double consumer_cores(const Evidence& evidence);

// Of those that the run may use, the share in use; 1 also where others use them and calls are ready to run for all of
// the time.
double cpu_use(const Evidence& evidence);

// More are in use than this process uses.
bool others_use_cores(const Evidence& evidence);

// Calls that are ready to run and have no core: how many on average, and for which share of the time in which they are
// ready.
struct Queued {
  double calls = 0;
  double share = 0;
};
Queued queued(const Evidence& evidence);

// Permits for calls that compute.
double cpu_permits(const Evidence& evidence);

// Calls that a stage might have, on average over the window: the number may have been moved a moment ago.
double calls_allowed(const Evidence& evidence, int stage);

// Of the time of a call of the stage.
double delay_share(const StageRates& stage);
double waiting_share(const StageRates& stage);

}  // namespace penstock::autotune
