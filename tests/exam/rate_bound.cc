#include "tests/exam/rate_bound.h"

#include <algorithm>

namespace penstock::exam {

// Branches of a zip are visited as often as it is: none of their stages has a fan-out or batches.
double visits_of(const ChainSpec& chain, int stage) {
  double visits = 1;
  for (auto i = static_cast<std::size_t>(stage) - 1; i < chain.stages.size(); ++i) {
    visits *= static_cast<double>(chain.stages[i].batch) / chain.stages[i].fan_out.mean;
  }
  return visits;
}

double rate_bound(const ChainSpec& chain, double cores) {
  double cpu = 1;  // ns for one that is delivered
  double least = 1e9;
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    const StageSpec& stage = chain.stages[i];
    const double visits = visits_of(chain, static_cast<int>(i) + 1);
    const double time = visits * (stage.cpu.mean + stage.blocked.mean);
    cpu += visits * stage.cpu.mean;
    if (stage.serial) least = std::min(least, 1e9 / time);
    if (!stage.serial && stage.blocked.mean > 0)
      least = std::min(least, static_cast<double>(chain.open_io) * 1e9 / time);
    if (stage.device < 0) continue;
    const int slots = chain.devices[static_cast<std::size_t>(stage.device)].slots;
    if (slots > 0) least = std::min(least, slots * 1e9 / (visits * stage.blocked.mean));
  }
  return std::min(least, cores * 1e9 / cpu);
}

double demand_of(const ChainSpec& chain) {
  const ConsumerPhase phase = phase_at(chain.consumer, 0);
  const auto burst = static_cast<double>(phase.burst);
  return burst * 1e9 / std::max(burst * phase.cpu_each + phase.cpu + phase.idle, 1.0);
}

}  // namespace penstock::exam
