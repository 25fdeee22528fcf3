#include "autotune/cores.h"

#include <algorithm>
#include <cmath>

namespace penstock::autotune {
namespace {

constexpr double kOurs = 0.8;  // of the cores whose permits are in use: less, and somebody else is on them

double known_or(double value, double otherwise) { return std::isnan(value) ? otherwise : value; }

double share_of_call(double part, const StageRates& stage) {
  return stage.call_s > 0 ? known_or(part / stage.call_s, 0) : 0;
}

double cores_of_process(const Evidence& evidence) {
  const double own = cores_in_use(evidence) + known_or(consumer_cores(evidence), 0);
  const double all =
      cores_between_readings(evidence.facts.window, [](const Snapshot& at) { return at.process_cpu_ns; });
  return std::isnan(own) ? all : std::max(own, known_or(all, 0));
}

// By the permits for calls that compute, because other processes may use the cores: a call then has its permit, but no
// core. Calls that hold a permit only to wait do not count.
double use_by_permits(const Evidence& evidence) {
  double computing = 0, waiting = 0;
  for (std::size_t i = 0; i < evidence.rates.stages.size(); ++i) {
    const StageRates& stage = evidence.rates.stages[i];
    if (!computes(evidence.now().stages[i])) continue;
    const double wait = waiting_share(stage) * stage.in_flight;
    computing += stage.in_flight - wait;
    waiting += wait;
  }
  const Looks& looks = evidence.facts.window.looks;
  const double held = looks.count > 0 ? looks.cpu_permits / static_cast<double>(looks.count) - waiting : 0;
  return std::max(computing, held) / cpu_permits(evidence);
}

// All calls of a stage are under way, and wait for a core: more of them would only wait, too.
double use_by_delay(const Evidence& evidence) {
  double most = 0;
  for (std::size_t i = 0; i < evidence.rates.stages.size(); ++i) {
    const StageRates& stage = evidence.rates.stages[i];
    most = std::max(most,
                    std::min(1.0, stage.in_flight / calls_allowed(evidence, static_cast<int>(i))) * delay_share(stage));
  }
  return most;
}

}  // namespace

double cores_in_use(const Evidence& evidence) {
  const double foreign = std::max(0.0, known_or(evidence.foreign.cores, 0));
  if (!std::isnan(evidence.workers)) return evidence.workers + foreign;
  const auto is_read = [](const StageRates& stage) { return stage.samples > 0; };
  if (std::ranges::none_of(evidence.rates.stages, is_read)) return kUnknown;
  return evidence.rates.cpu_in_use + foreign;
}

double consumer_cores(const Evidence& evidence) {
  const ConsumerSnapshot &before = evidence.facts.window.before.consumer, &now = evidence.now().consumer;
  if (now.cpu_ns < 0) return kUnknown;
  return 1e-9 * static_cast<double>(now.cpu_ns - std::max<std::int64_t>(before.cpu_ns, 0)) / evidence.rates.seconds;
}

double cpu_use(const Evidence& evidence) {
  const double by_clocks =
      (known_or(cores_in_use(evidence), 0) + known_or(consumer_cores(evidence), 0)) / evidence.now().cpu_budget;
  return std::clamp(std::max({by_clocks, use_by_permits(evidence), use_by_delay(evidence)}), 0.0, 1.0);
}

bool others_use_cores(const Evidence& evidence) {
  return cores_of_process(evidence) < kOurs * cpu_use(evidence) * evidence.now().cpu_budget;
}

Queued queued(const Evidence& evidence) {
  Queued found;
  double computing = 0;
  for (const StageRates& stage : evidence.rates.stages) {
    found.calls += known_or(stage.rate * stage.delay_s, 0);
    computing += known_or(stage.rate * stage.cpu_s, 0);
  }
  if (found.calls > 0) found.share = found.calls / (found.calls + computing);
  return found;
}

double cpu_permits(const Evidence& evidence) {
  const Decision* moved = last_move(evidence.facts, -1, KnobKind::cpu_slots);
  return moved != nullptr ? static_cast<double>(moved->to) : std::max(1.0, std::ceil(evidence.now().cpu_budget - 0.01));
}

double calls_allowed(const Evidence& evidence, int stage) {
  const auto i = static_cast<std::size_t>(stage);
  const Looks& looks = evidence.facts.window.looks;
  if (!evidence.now().stages[i].parallel) return 1;
  return std::max(1.0, static_cast<double>(looks.stages[i].calls) / static_cast<double>(looks.count));
}

double delay_share(const StageRates& stage) { return share_of_call(stage.delay_s, stage); }
double waiting_share(const StageRates& stage) { return share_of_call(stage.waiting_s, stage); }

}  // namespace penstock::autotune
