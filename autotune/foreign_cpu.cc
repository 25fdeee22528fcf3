// Cores that threads burn which neither penstock nor the consumer runs on: a user's function may start threads of its
// own.
#include <algorithm>
#include <cmath>
#include <vector>

#include "autotune/evidence.h"

namespace penstock::autotune {
namespace {

constexpr double kWorthTelling = 0.1;  // cores
constexpr double kInStep = 0.8;        // correlation
constexpr std::size_t kPairs = 6;      // at least
constexpr double kClearly = 2;         // standard errors

bool is_known(const Snapshot& snapshot) {
  return snapshot.process_cpu_ns >= 0 && snapshot.workers_cpu_ns >= 0 && snapshot.consumer_cpu_ns >= 0;
}

std::int64_t unexplained(const Snapshot& at) { return at.process_cpu_ns - at.workers_cpu_ns - at.consumer_cpu_ns; }

// From one reading of the clocks to another: all of them are of that moment, not of the snapshot's.
double cores_between(const Snapshot& before, const Snapshot& now, std::int64_t (*used)(const Snapshot&)) {
  if (!is_known(before) || !is_known(now) || now.clocks_ns <= before.clocks_ns) return kUnknown;
  return static_cast<double>(used(now) - used(before)) / static_cast<double>(now.clocks_ns - before.clocks_ns);
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  double sum_x = 0, sum_y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum_x += x[i];
    sum_y += y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
    xy += x[i] * y[i];
  }
  const double spread = (xx - sum_x * sum_x / count) * (yy - sum_y * sum_y / count);
  return spread > 0 ? (xy - sum_x * sum_y / count) / std::sqrt(spread) : 0;
}

// Rates of all steps: of the unexplained cores, and of a stage.
struct Series {
  std::vector<double> cores;
  std::vector<std::vector<double>> stages;
};

Series series_of(const Window& window) {
  Series series;
  series.stages.resize(window.now.stages.size());
  for (std::size_t i = 1; i < window.steps.size(); ++i) {
    const Snapshot &before = *window.steps[i - 1], &now = *window.steps[i];
    const double cores = cores_between(before, now, unexplained);
    if (std::isnan(cores) || before.stages.size() != now.stages.size()) continue;
    series.cores.push_back(cores);
    const double time = static_cast<double>(now.time_ns - before.time_ns);
    for (std::size_t k = 0; k < now.stages.size(); ++k) {
      series.stages[k].push_back(static_cast<double>(now.stages[k].completed - before.stages[k].completed) / time);
    }
  }
  return series;
}

// Fisher's z of a correlation: its standard error is 1 / sqrt(n - 3) for n pairs, whatever the correlation (R. A.
// Fisher, Statistical Methods for Research Workers, section 35).
double fishers_z(double correlation) { return std::atanh(std::clamp(correlation, -0.999999, 0.999999)); }

// The stage that goes up and down with the unexplained cores, clearly more so than any other; -1: they all do, or none.
// Stages of one pipeline have much the same rates, so what looks like a difference is most often chance.
int stage_in_step(const Series& series) {
  int best = -1;
  double first = 0, second = 0;
  for (std::size_t k = 0; k < series.stages.size(); ++k) {
    const double now = correlation(series.stages[k], series.cores);
    second = std::max(second, std::min(now, first));
    if (now <= first) continue;
    first = now;
    best = static_cast<int>(k);
  }
  const double error = std::sqrt(2 / (static_cast<double>(series.cores.size()) - 3));
  return first > kInStep && fishers_z(first) - fishers_z(second) > kClearly * error ? best : -1;
}

// A call that nobody has said to wait, and that does, may well wait for its own threads.
int stage_that_waits(const Window& window, const Rates& rates) {
  int best = -1;
  double most = 0;
  for (std::size_t i = 0; i < rates.stages.size(); ++i) {
    const StageSnapshot& stage = window.now.stages[i];
    const double waiting = rates.stages[i].rate * rates.stages[i].waiting_s;
    const bool is_to_wait = stage.completes_later || (stage.on_pool && stage.form_is_known);
    if (is_to_wait || !(waiting > most)) continue;
    most = waiting;
    best = static_cast<int>(i);
  }
  return most > kWorthTelling / 2 ? best : -1;
}

}  // namespace

// Since the window began, or since the first step whose clocks were read: a run knows nothing of the process before it.
double cores_between_readings(const Window& window, std::int64_t (*used)(const Snapshot&)) {
  if (is_known(window.before)) return cores_between(window.before, window.now, used);
  for (const auto& step : window.steps) {
    if (is_known(*step)) return cores_between(*step, window.now, used);
  }
  return kUnknown;
}

ForeignCpu foreign_cpu(const Window& window, const Rates& rates) {
  ForeignCpu foreign{.cores = cores_between_readings(window, unexplained)};
  if (!(foreign.cores > kWorthTelling)) return foreign;
  const Series series = series_of(window);
  if (series.cores.size() >= kPairs) foreign.stage = stage_in_step(series);
  if (foreign.stage >= 0) {
    foreign.samples = static_cast<std::int64_t>(series.cores.size());
  } else {
    foreign.stage = stage_that_waits(window, rates);
  }
  return foreign;
}

}  // namespace penstock::autotune
