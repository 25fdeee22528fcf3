#include "autotune/explain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autotune/bottleneck.h"
#include "autotune/cores.h"
#include "autotune/numbers.h"
#include "autotune/service_times.h"
#include "autotune/what_if.h"

namespace penstock::autotune {
namespace {

constexpr std::size_t kDecisions = 8;
constexpr double kFar = 10;  // a bound of more than ten times what is delivered matters to nobody
constexpr std::int64_t kManyBytes = 1 << 20;
constexpr double kOutlier = 4;       // times what results are on average
constexpr double kPartCopied = 0.1;  // of the batches: less comes of failed elements
constexpr double kDelayed = 0.05;    // of the consumer's time
constexpr double kMuchQueued = 0.1,
                 kOftenQueued = 0.2;  // calls without a core on average; share of the time in which they are ready

const StageSnapshot& stage_or_none(const Snapshot& snapshot, std::size_t index) {
  static const StageSnapshot none;
  return index < snapshot.stages.size() ? snapshot.stages[index] : none;
}

// Of the mean time of a call.
double error_of_mean(const ServiceTimes& before, const ServiceTimes& now, double mean) {
  ServiceTimeTail times;
  times.add(before, now);
  const double calls = times.total();
  return calls < 8 ? kUnknown : mean * times.variation() / std::sqrt(calls);
}

Explanation::Stage row(const StageSnapshot& before, const StageSnapshot& now, const StageRates& rates) {
  Explanation::Stage row;
  row.name = now.name;
  row.position = now.position;
  row.parallel = now.parallel;
  row.on_pool = now.on_pool;
  row.completes_later = now.completes_later;
  row.parallelism = now.parallel ? now.parallelism : 1;
  row.rate = rates.rate;
  if (now.completed > 0) row.per_delivered = rates.visits;
  row.in_flight = rates.in_flight;
  row.call = {rates.call_s, error_of_mean(before.service_times, now.service_times, rates.call_s), rates.completed};
  row.cpu = rates.cpu_s;
  row.queued = rates.delay_s;
  row.waiting = rates.waiting_s;
  row.clock_samples = rates.samples;
  row.window = now.window;
  row.buffer = now.buffer;
  row.starved = rates.starved;
  row.blocked = rates.blocked;
  row.bytes_held = now.bytes_held;
  row.cycle_length = now.cycle_length;
  row.datasets_open = now.datasets_open;
  row.datasets_opened = now.datasets_opened;
  if (now.cycle_length > 0 && now.slot_ns > before.slot_ns)
    row.opening =
        static_cast<double>(now.opening_ns - before.opening_ns) / static_cast<double>(now.slot_ns - before.slot_ns);
  row.elements_in = now.elements_in;
  row.elements_out = now.elements_out;
  row.errors = now.errors;
  row.dropped = now.dropped;
  row.unseen_type = now.unseen_type;
  return row;
}

// The consumer's waiting is handed up the chain: each stage keeps what it held up itself.
void set_blame(std::vector<Explanation::Stage>& rows, const Evidence& evidence) {
  std::vector<double> handed(rows.size(), 0);
  double kept = 0;
  for (std::size_t i = rows.size(); i-- > 0;) {
    const auto feeds = [i](const StageSnapshot& stage) { return stage.feeds == static_cast<int>(i); };
    const auto feeders = std::ranges::count_if(evidence.now().stages, feeds);
    if (evidence.now().stages[i].feeds < 0) handed[i] = 1;
    rows[i].blame = handed[i] * holding_share(evidence, static_cast<int>(i));
    kept += rows[i].blame;
    for (std::size_t k = 0; k < i; ++k) {
      if (feeds(evidence.now().stages[k])) handed[k] += (handed[i] - rows[i].blame) / static_cast<double>(feeders);
    }
  }
  for (Explanation::Stage& row : rows) row.blame = kept > 0 ? row.blame / kept : 0;
}

// Of a rate, by how much it differed from step to step of the window.
Explanation::Measured delivered(const Evidence& evidence) {
  Explanation::Measured rate{evidence.rates.delivered, kUnknown, evidence.rates.taken};
  const Window& window = evidence.facts.window;
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 1; i < window.steps.size(); ++i) {
    const Snapshot &from = *window.steps[i - 1], &to = *window.steps[i];
    if (from.time_ns < window.before.time_ns || to.time_ns <= from.time_ns) continue;
    const double each =
        static_cast<double>(to.consumer.taken - from.consumer.taken) / seconds(to.time_ns - from.time_ns);
    count += 1;
    sum += each;
    squares += each * each;
  }
  if (count >= 3) rate.error = std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1) / count));
  return rate;
}

double has(const RateBound& bound, const Snapshot& now) {
  if (bound.kind == Limit::cpu) return now.cpu_budget;
  if (bound.kind == Limit::serial) return 1;
  if (bound.kind == Limit::parallel)
    return calls_at_once(now.stages[static_cast<std::size_t>(bound.stage)], now.cpu_budget);
  return kUnknown;
}

std::vector<Explanation::Bound> bounds(const Evidence& evidence) {
  std::vector<Explanation::Bound> all;
  for (const RateBound& each : evidence.bounds) {
    const bool is_far = each.rate > kFar * evidence.rates.delivered && evidence.rates.delivered > 0 && all.size() >= 3;
    if (std::isinf(each.rate) || is_far) continue;
    all.push_back({each.kind, each.stage, has(each, evidence.now()), each.rate, each.samples});
  }
  return all;
}

void warn_of_foreign_threads(Explanation& to, const ForeignCpu& foreign) {
  if (!(foreign.cores > 0.1)) return;
  to.warnings.push_back({Explanation::Problem::foreign_threads, foreign.stage, foreign.cores, foreign.samples});
}

void warn_of_memory(Explanation& to, const Snapshot& now) {
  std::int64_t required = 0;
  for (const StageSnapshot& stage : now.stages) required += stage.bytes_required;
  if (required <= now.memory_limit) return;
  to.warnings.push_back({Explanation::Problem::memory_too_small, -1, static_cast<double>(required), to.looks});
}

// Reserved for each result, beside what results have been so far.
bool has_outlier(const StageSnapshot& stage) {
  return stage.waits_for_memory && stage.made > 0 &&
         static_cast<double>(stage.bytes_expected) >
             kOutlier * static_cast<double>(stage.bytes_out) / static_cast<double>(stage.made);
}

void warn_of_sizes(Explanation& to, const Snapshot& now) {
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageSnapshot& stage = now.stages[i];
    if (!stage.unseen_type.empty())
      to.warnings.push_back({Explanation::Problem::unseen_memory, static_cast<int>(i), kUnknown, stage.made});
    if (has_outlier(stage))
      to.warnings.push_back(
          {Explanation::Problem::outlier, static_cast<int>(i), static_cast<double>(stage.bytes_expected), stage.made});
  }
}

// Where nobody has seen the beginning, it was none.
void warn_of_delay(Explanation& to, const ConsumerSnapshot& before, const ConsumerSnapshot& now) {
  if (now.delay_ns < 0 || to.window <= 0) return;
  const double share = seconds(now.delay_ns - std::max<std::int64_t>(before.delay_ns, 0)) / to.window;
  if (share > kDelayed)
    to.warnings.push_back({Explanation::Problem::consumer_delayed, -1, share, to.delivered.samples});
}

// Not where it is the bottleneck anyhow: that says so itself.
void warn_of_other_processes(Explanation& to, const Evidence& evidence) {
  const Queued found = queued(evidence);
  const bool is_said = to.bottleneck.hold == Hold::other_processes;
  if (is_said || found.calls < kMuchQueued || found.share < kOftenQueued || !others_use_cores(evidence)) return;
  to.warnings.push_back({Explanation::Problem::other_processes, -1, found.share, to.delivered.samples});
}

// Of sources there is nothing to be said: they have no places to write to.
void warn_of_copies(Explanation& to, const Window& window) {
  for (const StageSnapshot& batch : window.now.stages) {
    const bool is_much = batch.copied_bytes > kManyBytes &&
                         static_cast<double>(batch.copied_bytes) > kPartCopied * static_cast<double>(batch.bytes_out);
    if (batch.places_end <= 0 || !is_much) continue;
    to.warnings.push_back({Explanation::Problem::copies, batch.places_end,
                           static_cast<double>(batch.copied_bytes) / to.time, batch.completed});
  }
}

// Only where more room would be the first idea: nothing but a wider bottleneck fills a buffer.
void warn_of_buffers(Explanation& to) {
  const bool has_room = to.bottleneck.limit != Limit::buffer && to.bottleneck.limit != Limit::unknown &&
                        to.bottleneck.limit != Limit::consumer;
  if (to.serial || !to.input_bound() || !has_room || to.bottleneck.limit == Limit::memory ||
      to.bottleneck.limit == Limit::window)
    return;
  to.warnings.push_back({Explanation::Problem::buffer_cannot_help, -1, kUnknown, to.delivered.samples});
}

// A serial run has no waiting: the consumer's thread runs the calls.
double inside_calls(const Rates& rates) {
  double share = 0;
  for (const StageRates& stage : rates.stages) share += stage.in_flight;
  return std::min(share, 1.0);
}

void set_consumer(Explanation& to, const Evidence& evidence) {
  const ConsumerSnapshot &before = evidence.facts.window.before.consumer, &now = evidence.now().consumer;
  to.delivered = delivered(evidence);
  to.wait_share = {evidence.rates.wait_share, kUnknown, now.waits - before.waits};
  if (to.serial) to.wait_share.value = inside_calls(evidence.rates);
  const double own = to.window * (1 - to.wait_share.value);
  if (evidence.rates.taken > 0 && own > 0) to.demand = static_cast<double>(evidence.rates.taken) / own;
}

void set_resources(Explanation& to, const Evidence& evidence) {
  const Snapshot& now = evidence.now();
  const Looks& looks = evidence.facts.window.looks;
  to.cpu_used = cores_in_use(evidence);
  to.cpu_in_calls = std::min(evidence.rates.cpu_in_use, to.cpu_used);
  to.cpu_consumer = consumer_cores(evidence);
  to.cpu_budget = now.cpu_budget;
  to.prefetch = now.consumer.prefetch;
  to.looks = looks.count;
  to.memory_used = looks.memory / static_cast<double>(std::max<std::int64_t>(looks.count, 1));
  to.memory_limit = now.memory_limit;
  to.memory_peak = now.memory_peak;
  to.in_results = static_cast<double>(now.memory_used);
  for (const StageSnapshot& stage : now.stages) to.in_results -= static_cast<double>(stage.bytes_held);
  to.in_results = std::max(0.0, to.in_results);
}

void set_stages(Explanation& to, const Evidence& evidence) {
  for (std::size_t i = 0; i < evidence.rates.stages.size(); ++i) {
    to.stages.push_back(
        row(stage_or_none(evidence.facts.window.before, i), evidence.now().stages[i], evidence.rates.stages[i]));
  }
  set_blame(to.stages, evidence);
}

}  // namespace

Explanation explain(Facts facts) {
  const Evidence evidence = evidence_of(std::move(facts));
  const Window& window = evidence.facts.window;
  Explanation to;
  to.time = seconds(window.now.time_ns);
  to.window = seconds(window.now.time_ns - window.before.time_ns);
  to.serial = evidence.facts.serial;
  to.inside_another_run = evidence.facts.inside_another_run;
  if (to.time <= 0) return to;
  set_consumer(to, evidence);
  set_resources(to, evidence);
  set_stages(to, evidence);
  to.queued = queued(evidence).share;
  to.bottleneck = bottleneck_of(evidence);
  to.bounds = bounds(evidence);
  to.what_ifs = what_ifs(evidence, to.bottleneck);
  const auto& made = evidence.facts.decisions;
  to.decisions.assign(made.end() - static_cast<std::ptrdiff_t>(std::min(made.size(), kDecisions)), made.end());
  warn_of_foreign_threads(to, evidence.foreign);
  warn_of_memory(to, window.now);
  warn_of_sizes(to, window.now);
  warn_of_delay(to, window.before.consumer, window.now.consumer);
  warn_of_copies(to, window);
  warn_of_other_processes(to, evidence);
  warn_of_buffers(to);
  return to;
}

}  // namespace penstock::autotune
