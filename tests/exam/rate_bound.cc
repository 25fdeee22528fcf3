#include "tests/exam/rate_bound.h"

#include <algorithm>
#include <vector>

namespace penstock::exam {

namespace {

// Where the results of a stage go, and which share of what comes there they are.
struct Way {
  std::size_t to;  // the number of stages: to the consumer
  double share = 1;
};

std::vector<Way> ways_of(const ChainSpec& chain) {
  const std::size_t none = chain.stages.size();
  std::vector<Way> ways(chain.stages.size(), Way{none});
  std::vector<std::size_t> ends{none};  // of the branches, the last stage; of one that is but a source, none
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    const StageSpec& stage = chain.stages[i];
    const std::size_t inputs = inputs_of(stage), first = ends.size() - inputs;
    for (std::size_t k = 0; k < inputs; ++k) {
      if (ends[first + k] != none) ways[ends[first + k]] = {i, stage.shares.empty() ? 1 : stage.shares[k]};
    }
    ends.resize(first);
    ends.push_back(i);
  }
  return ways;
}

}  // namespace

// A branch of a zip is visited as often as it is.
double visits_of(const ChainSpec& chain, int stage) {
  const std::vector<Way> ways = ways_of(chain);
  const std::size_t own = static_cast<std::size_t>(stage) - 1;
  double visits = is_nest(chain.stages[own]) ? chain.stages[own].fan_out.mean : 1;
  for (std::size_t i = own; i < chain.stages.size(); i = ways[i].to) {
    visits *= ways[i].share * static_cast<double>(chain.stages[i].batch) / chain.stages[i].fan_out.mean;
  }
  return visits;
}

namespace {

// Datasets that are read at once, on average. An open one is read by one call at a time; a few of its elements were
// made before its place was free.
double read_at_once(const StageSpec& nest) {
  constexpr double kMadeAhead = 2;  // InterleaveOptions, with blocks of one element
  const double open = static_cast<double>(nest.cycle_length), elements = nest.fan_out.mean;
  return open * elements / std::max(elements - kMadeAhead, 1.0);
}

}  // namespace

double rate_bound(const ChainSpec& chain, double cores) {
  double cpu = 1;  // ns for one that is delivered
  double least = 1e9;
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    const StageSpec& stage = chain.stages[i];
    const double visits = visits_of(chain, static_cast<int>(i) + 1);
    const double time = visits * (stage.cpu.mean + stage.blocked.mean);
    cpu += visits * stage.cpu.mean;
    if (is_nest(stage)) least = std::min(least, read_at_once(stage) * 1e9 / time);
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
