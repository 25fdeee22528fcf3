#include "autotune/model.h"

#include <algorithm>
#include <cmath>

#include "autotune/numbers.h"

namespace penstock::autotune {
namespace {

constexpr double kBusyMachine = 10;  // a tenth of the time without a core is no chance

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0; }

double calls_allowed(const StageSnapshot& stage) {
  return stage.parallel ? static_cast<double>(std::max<std::int64_t>(stage.parallelism, 1)) : 1;
}

// Of the calls whose clocks were read, sums.
struct Sampled {
  double wall = 0, cpu = 0, delay = 0;  // s
  double elements = 0;
};

Sampled sampled_between(const StageCounts& before, const StageSnapshot& now) {
  return {.wall = seconds(now.sampled_wall_ns - before.sampled_wall_ns),
          .cpu = seconds(now.sampled_cpu_ns - before.sampled_cpu_ns),
          .delay = seconds(now.sampled_delay_ns - before.sampled_delay_ns),
          .elements = static_cast<double>(now.sampled_elements - before.sampled_elements)};
}

// k. Where cores are free, the samples' share of the whole time: they are finished calls, which are the short ones of a
// window. Where calls wait for cores, an element's CPU time itself: how long those calls took that were not sampled
// says little of what they compute.
double cpu_per_element(const Sampled& sampled, double call_s) {
  const double by_share = share(sampled.cpu, sampled.wall) * call_s;
  if (!(sampled.elements > 0)) return by_share;
  const double by_elements = std::min(sampled.cpu / sampled.elements, call_s);
  const double busy = std::min(kBusyMachine * share(sampled.delay, sampled.wall), 1.0);
  return by_share + busy * (by_elements - by_share);
}

// s split into k, r and w. What is not k is r and w as in the samples.
void split_time(StageRates& rates, const StageCounts& before, const StageSnapshot& now) {
  const Sampled sampled = sampled_between(before, now);
  rates.samples = now.samples - before.samples;
  if (rates.samples <= 0 || sampled.wall <= 0 || !(rates.call_s >= 0)) return;
  rates.cpu_s = cpu_per_element(sampled, rates.call_s);
  const double rest = rates.call_s - rates.cpu_s;
  rates.delay_s = share(sampled.delay, sampled.wall - sampled.cpu) * rest;
  rates.waiting_s = rest - rates.delay_s;
}

// Results over the whole run: a window may hold no batch at all. Shares of the window, if the merge took anything.
Ratios ratios_of(const Snapshot& before, const Snapshot& now, std::size_t index, bool feeds_merge) {
  const StageSnapshot& stage = now.stages[index];
  Ratios ratios = {.results = ratio_or_one(as_double(stage.made), as_double(stage.completed))};
  if (!feeds_merge) return ratios;
  const auto next = static_cast<std::size_t>(stage.feeds);
  std::int64_t given = stage.elements_out, taken = now.stages[next].completed;
  if (before.stages.size() == now.stages.size() && before.stages[next].completed < taken) {
    given -= before.stages[index].elements_out;
    taken -= before.stages[next].completed;
  }
  ratios.share = share_or_one(as_double(given), as_double(taken));
  return ratios;
}

void set_visits(Rates& rates, const Snapshot& before, const Snapshot& now) {
  const std::vector<bool> feed = feed_merges(now);
  std::vector<Ratios> ratios;
  for (std::size_t i = 0; i < now.stages.size(); ++i) ratios.push_back(ratios_of(before, now, i, feed[i]));
  std::vector<double> visits;
  visits_of(now, ratios, visits);
  for (std::size_t i = 0; i < visits.size(); ++i) rates.stages[i].visits = visits[i];
}

double known_or_zero(double value) { return value >= 0 ? value : 0; }

}  // namespace

StageCounts counts_of(const StageSnapshot& stage) {
  return {.completed = stage.completed,
          .made = stage.made,
          .bytes_out = stage.bytes_out,
          .slot_ns = stage.slot_ns,
          .starved_ns = stage.starved_ns,
          .blocked_ns = stage.blocked_ns,
          .samples = stage.samples,
          .sampled_elements = stage.sampled_elements,
          .sampled_wall_ns = stage.sampled_wall_ns,
          .sampled_cpu_ns = stage.sampled_cpu_ns,
          .sampled_delay_ns = stage.sampled_delay_ns,
          .sampling_ns = stage.sampling_ns};
}

StageRates stage_rates(const StageCounts& before, const StageSnapshot& now, double time) {
  StageRates rates;
  rates.completed = now.completed - before.completed;
  const double in_calls = seconds(now.slot_ns - before.slot_ns);
  rates.rate = static_cast<double>(rates.completed) / time;
  rates.in_flight = in_calls / time;
  rates.busy = share(rates.in_flight, calls_allowed(now));
  rates.starved = share(seconds(now.starved_ns - before.starved_ns), time);
  rates.blocked = share(seconds(now.blocked_ns - before.blocked_ns), time);
  const std::int64_t made = now.made - before.made;
  if (made > 0) rates.bytes = static_cast<double>(now.bytes_out - before.bytes_out) / static_cast<double>(made);
  if (rates.completed <= 0) return rates;
  const double sampling = seconds(now.sampling_ns - before.sampling_ns);
  rates.call_s = std::max(in_calls - sampling, 0.0) / static_cast<double>(rates.completed);
  split_time(rates, before, now);
  return rates;
}

Rates rates_between(const Snapshot& before, const Snapshot& now) {
  Rates rates;
  rates.seconds = std::max(seconds(now.time_ns - before.time_ns), 1e-9);
  rates.taken = now.consumer.taken - before.consumer.taken;
  rates.delivered = static_cast<double>(rates.taken) / rates.seconds;
  rates.wait_share = share(seconds(now.consumer.wait_ns - before.consumer.wait_ns), rates.seconds);
  if (rates.taken > 0 && rates.wait_share < 0.98) rates.demand = rates.delivered / (1 - rates.wait_share);
  if (rates.taken > 0 && now.consumer.cpu_ns >= 0) {
    const double own = seconds(now.consumer.cpu_ns - std::max<std::int64_t>(before.consumer.cpu_ns, 0));
    rates.consumer_cpu_s = own / static_cast<double>(rates.taken);
  }
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageCounts from = i < before.stages.size() ? counts_of(before.stages[i]) : StageCounts();
    rates.stages.push_back(stage_rates(from, now.stages[i], rates.seconds));
    rates.cpu_in_use += rates.stages[i].rate * known_or_zero(rates.stages[i].cpu_s);
  }
  set_visits(rates, before, now);
  return rates;
}

double ratio_or_one(double part, double whole) { return part > 0 && whole > 0 ? part / whole : 1; }

double share_or_one(double part, double whole) {
  constexpr double kLeast = 1e-3;
  return whole > 0 ? std::clamp(part / whole, kLeast, 1.0) : 1;
}

std::vector<bool> feed_merges(const Snapshot& now) {
  std::vector<int> inputs(now.stages.size());
  for (const StageSnapshot& stage : now.stages) {
    if (stage.feeds >= 0) ++inputs[static_cast<std::size_t>(stage.feeds)];
  }
  std::vector<bool> feed;
  for (const StageSnapshot& stage : now.stages)
    feed.push_back(stage.feeds >= 0 && inputs[static_cast<std::size_t>(stage.feeds)] > 1);
  return feed;
}

void visits_of(const Snapshot& now, const std::vector<Ratios>& ratios, std::vector<double>& visits) {
  visits.assign(now.stages.size(), 1);
  for (std::size_t i = now.stages.size(); i-- > 0;) {
    const int feeds = now.stages[i].feeds;
    const double taken = feeds < 0 ? 1 : visits[static_cast<std::size_t>(feeds)];
    visits[i] = taken * ratios[i].share / ratios[i].results;
  }
}

std::int64_t bytes_of_result(const StageSnapshot& stage) {
  if (stage.made <= 0 || stage.bytes_out <= 0) return 0;
  return std::max<std::int64_t>(stage.bytes_out / stage.made, 1);
}

}  // namespace penstock::autotune
