#include "autotune/bottleneck.h"

#include <algorithm>
#include <cmath>

#include "autotune/cores.h"

namespace penstock::autotune {
namespace {

constexpr double kContent = 0.03;    // a consumer that waits less has what it wants
constexpr double kWaits = 0.5;       // of a call's time: it does not compute
constexpr std::int64_t kCounts = 8;  // elements delivered: a rate that is good enough to doubt something by
constexpr double kFarBelow = 1.5;
constexpr double kAtCeiling = 0.75;  // what was measured once is hardly ever reached again
constexpr double kShare = 0.05;      // of the time: less is chance
// A number that the controller is free to move is no resource: with a true one in use nearly as much, that one is the
// limit.
constexpr double kKnobCounts = 0.1;
constexpr double kCeilingCounts = 0.94;  // probes find one just as well where all cores are in use
constexpr double kUsed = 0.85;           // of the memory: a larger buffer would find none
constexpr double kMemoryCounts =
    0.89;  // it is waited for also by who reads ahead of a stage that is the limit: less than a busy core

struct Candidate {
  Explanation::Bottleneck is;
  double score = 0;
};

double share_of_looks(std::int64_t seen, const Looks& looks) {
  return looks.count > 0 ? static_cast<double>(seen) / static_cast<double>(looks.count) : 0;
}

// Calls under way of those that were allowed, without the time that they only wait for a core.
double stage_use(const Evidence& evidence, int index) {
  const StageRates& rates = evidence.rates.stages[static_cast<std::size_t>(index)];
  return std::min(1.0, rates.in_flight / calls_allowed(evidence, index)) * (1 - delay_share(rates));
}

StageLimits limits_of(const Evidence& evidence, int index) {
  const auto i = static_cast<std::size_t>(index);
  const auto& limits = evidence.facts.limits;
  return i < limits.size() ? limits[i] : StageLimits();
}

double ceiling_of(const Evidence& evidence, int index) {
  const double ceiling = limits_of(evidence, index).ceiling;
  return ceiling > 0 ? ceiling : kUnbounded;
}

// As good as. While the controller tries whether fewer calls would do, it is told by what it knew before.
bool is_at_ceiling(const Evidence& evidence, int index) {
  const double ceiling = ceiling_of(evidence, index);
  if (!(ceiling < kUnbounded)) return false;
  const Decision* last = last_move(evidence.facts, index, KnobKind::parallelism);
  const bool is_tried = last != nullptr && last->reason == Reason::trim_probe;
  return is_tried || evidence.rates.stages[static_cast<std::size_t>(index)].rate > kAtCeiling * ceiling;
}

Hold hold_by_decision(const Decision* last) {
  if (last == nullptr) return Hold::unknown;
  const bool is_back_from_more = last->reason == Reason::restore && last->to < last->from;
  if (last->reason == Reason::knee || is_back_from_more) return Hold::device;
  if (last->reason == Reason::byte_limit) return Hold::memory;
  if (last->reason == Reason::io_limit) return Hold::open_io;
  if (last->reason == Reason::cpu_limit) return Hold::cores;
  return Hold::unknown;
}

// What the last move of the number of calls tells. A device's limit that the stage is far from by now holds nothing.
Hold hold_by_last_move(const Evidence& evidence, int index) {
  const Hold hold = hold_by_decision(last_move(evidence.facts, index, KnobKind::parallelism));
  const bool is_elsewhere =
      hold == Hold::device && ceiling_of(evidence, index) < kUnbounded && !is_at_ceiling(evidence, index);
  return hold == Hold::unknown || is_elsewhere ? Hold::settling : hold;
}

bool is_bounded_by_user(const StageSnapshot& stage, const Knob* knob) {
  return knob != nullptr && (knob->user_fixed || stage.parallelism >= knob->high);
}

// Why a stage has no more calls at once.
Hold hold_of_calls(const Evidence& evidence, int index) {
  const StageSnapshot& stage = evidence.now().stages[static_cast<std::size_t>(index)];
  if (is_bounded_by_user(stage, find_knob(evidence.facts, index, KnobKind::parallelism))) return Hold::user_limit;
  if (stage.on_pool && stage.parallelism >= evidence.now().open_io_limit) return Hold::open_io;
  if (!evidence.facts.tuned) return Hold::not_tuned;
  const Hold known = limits_of(evidence, index).calls;
  return known != Hold::unknown ? known : hold_by_last_move(evidence, index);
}

// Of a number that is neither fixed nor known to be held by anything.
Hold hold_of_free(const Evidence& evidence) { return evidence.facts.tuned ? Hold::settling : Hold::not_tuned; }

// Its own number of calls is no limit to a stage that computes on all cores.
bool is_bounded_by_cores(const StageSnapshot& stage, const StageRates& rates, const Evidence& evidence) {
  const bool has_enough = static_cast<double>(stage.parallelism) >= cpu_permits(evidence);
  return computes(stage) && has_enough && waiting_share(rates) < kWaits;
}

// A stage that is busy because it catches up, or runs ahead, is no limit to what is delivered: that is far below its
// own bound.
double doubt(const Evidence& evidence, int index) {
  const StageRates& rates = evidence.rates.stages[static_cast<std::size_t>(index)];
  const double bound = calls_allowed(evidence, index) / (rates.visits * needed_time(rates));
  return evidence.rates.taken >= kCounts && bound > 0 ? std::min(1.0, kFarBelow * evidence.rates.delivered / bound) : 1;
}

Candidate parallel_candidate(const Evidence& evidence, int index) {
  const auto i = static_cast<std::size_t>(index);
  const StageRates& rates = evidence.rates.stages[i];
  if (is_bounded_by_cores(evidence.now().stages[i], rates, evidence)) return {};
  const double use = stage_use(evidence, index);
  Candidate found{{Limit::parallel, index, use, hold_of_calls(evidence, index)}, use * doubt(evidence, index)};
  const bool is_free =
      found.is.hold == Hold::settling || found.is.hold == Hold::not_tuned || found.is.hold == Hold::cores;
  if (is_free) found.score -= kKnobCounts;
  if (found.is.hold == Hold::device) found.is.limit = Limit::ceiling;
  if (found.is.hold == Hold::memory) found.is = {Limit::memory, index, found.is.use, Hold::memory};
  return found;
}

Candidate ceiling_candidate(const Evidence& evidence, int index) {
  if (!is_at_ceiling(evidence, index)) return {};
  const double use =
      std::min(1.0, evidence.rates.stages[static_cast<std::size_t>(index)].rate / ceiling_of(evidence, index));
  // its own calls never come before it
  const double score = std::min(kCeilingCounts, std::max(use, stage_use(evidence, index)));
  return {{Limit::ceiling, index, use, Hold::device}, score};
}

Candidate window_candidate(const Evidence& evidence, int index) {
  const Looks& looks = evidence.facts.window.looks;
  const double share = share_of_looks(looks.stages[static_cast<std::size_t>(index)].window, looks);
  const bool is_nest = evidence.now().stages[static_cast<std::size_t>(index)].cycle_length > 0;
  if (is_nest) return {{Limit::parallel, index, share, Hold::user_limit}, share};  // of calls that find no dataset
  const Hold known = limits_of(evidence, index).window;
  if (known == Hold::memory) return {{Limit::memory, index, share, Hold::memory}, kMemoryCounts * share};
  const Hold hold = known != Hold::unknown ? known : hold_of_free(evidence);
  return {{Limit::window, index, share, hold}, share - kKnobCounts};
}

Candidate memory_candidate(const Evidence& evidence, int index) {
  const Looks& looks = evidence.facts.window.looks;
  const double share = share_of_looks(looks.stages[static_cast<std::size_t>(index)].memory, looks);
  return {{Limit::memory, index, share, Hold::memory}, kMemoryCounts * share};
}

bool memory_is_used(const Evidence& evidence) {
  const Looks& looks = evidence.facts.window.looks;
  return looks.memory > kUsed * static_cast<double>(looks.count) * static_cast<double>(evidence.now().memory_limit);
}

// Of the room in front of a stage; -1: of the consumer.
Hold hold_of_buffer(const Evidence& evidence, int behind) {
  const Knob* knob = find_knob(evidence.facts, behind, behind < 0 ? KnobKind::prefetch : KnobKind::buffer);
  const bool is_fixed = knob != nullptr && knob->user_fixed;
  return is_fixed ? Hold::user_limit : hold_of_free(evidence);
}

// Now the results of a stage have no room, now who is behind it (-1: the consumer) has no input: both for some of the
// time.
Candidate buffer_candidate(const Evidence& evidence, int index, double full, double empty, int behind) {
  if (full < kShare || empty < kShare) return {};
  const Hold hold = hold_of_buffer(evidence, behind);
  const double use = std::min(1.0, behind < 0 ? full + empty : 2 * std::min(full, empty));
  if (hold == Hold::settling && memory_is_used(evidence))
    return {{Limit::memory, index, full, Hold::memory}, use - kKnobCounts};
  return {{Limit::buffer, behind, use, hold}, use - kKnobCounts};
}

Candidate sink_candidate(const Evidence& evidence) {
  const Snapshot& before = evidence.facts.window.before;
  const double full =
      1e-9 * static_cast<double>(evidence.now().consumer.full_ns - before.consumer.full_ns) / evidence.rates.seconds;
  const double blocked = evidence.rates.stages.empty() ? 0 : evidence.rates.stages.back().blocked;
  const int last = static_cast<int>(evidence.rates.stages.size()) - 1;
  return buffer_candidate(evidence, last, std::max(full, blocked), evidence.rates.wait_share, -1);
}

Candidate inner_buffer_candidate(const Evidence& evidence, int index) {
  const auto i = static_cast<std::size_t>(index);
  const int next = evidence.now().stages[i].feeds;
  if (next < 0) return {};
  const StageRates& behind = evidence.rates.stages[static_cast<std::size_t>(next)];
  return buffer_candidate(evidence, index, evidence.rates.stages[i].blocked, behind.starved, next);
}

Candidate serial_candidate(const Evidence& evidence, int index) {
  const double use = stage_use(evidence, index);
  return {{Limit::serial, index, use, Hold::one_at_a_time}, use * doubt(evidence, index)};
}

Candidate cpu_candidate(const Evidence& evidence) {
  const double use = cpu_use(evidence);
  return {{Limit::cpu, -1, use, others_use_cores(evidence) ? Hold::other_processes : Hold::cores}, use};
}

Candidate better(const Candidate& a, const Candidate& b) { return b.score > a.score ? b : a; }

Candidate stage_candidate(const Evidence& evidence, int index) {
  const bool parallel = evidence.now().stages[static_cast<std::size_t>(index)].parallel;
  Candidate best = parallel ? parallel_candidate(evidence, index) : serial_candidate(evidence, index);
  const Candidate ceiling = ceiling_candidate(evidence, index);
  if (ceiling.score > 0 && best.is.limit == Limit::parallel) best = {};
  for (const Candidate& other : {ceiling, window_candidate(evidence, index), memory_candidate(evidence, index),
                                 inner_buffer_candidate(evidence, index)}) {
    best = better(best, other);
  }
  return best;
}

Candidate best_candidate(const Evidence& evidence) {
  Candidate best = better(cpu_candidate(evidence), sink_candidate(evidence));
  for (std::size_t i = 0; i < evidence.rates.stages.size(); ++i)
    best = better(best, stage_candidate(evidence, static_cast<int>(i)));
  return best;
}

// A serial run is one thread: the stage that takes most of it.
Explanation::Bottleneck of_serial_run(const Evidence& evidence) {
  Explanation::Bottleneck found;
  for (std::size_t i = 0; i < evidence.rates.stages.size(); ++i) {
    const double use = evidence.rates.stages[i].in_flight;
    if (!(use > (std::isnan(found.use) ? 0 : found.use))) continue;
    found = {Limit::serial, static_cast<int>(i), std::min(use, 1.0), Hold::user_limit};
  }
  return found;
}

bool has_begun(const Evidence& evidence) {
  const auto works = [](const StageSnapshot& stage) { return stage.slot_ns > 0 || stage.completed > 0; };
  return evidence.now().time_ns > 0 && std::ranges::any_of(evidence.now().stages, works);
}

bool consumer_is_asking(const Evidence& evidence) {
  return evidence.now().consumer.taken > 0 || evidence.now().consumer.ready > 0;
}

}  // namespace

double holding_share(const Evidence& evidence, int stage) {
  const auto i = static_cast<std::size_t>(stage);
  const Looks& looks = evidence.facts.window.looks;
  const double at_work = std::min(1.0, evidence.rates.stages[i].in_flight / calls_allowed(evidence, stage));
  const double held_up =
      std::max(share_of_looks(looks.stages[i].memory, looks), share_of_looks(looks.stages[i].window, looks));
  return std::min(std::max(at_work, held_up), 1 - evidence.rates.stages[i].starved);
}

Explanation::Bottleneck bottleneck_of(const Evidence& evidence) {
  if (!has_begun(evidence)) return {};
  if (evidence.facts.serial) return of_serial_run(evidence);
  const double served = 1 - evidence.rates.wait_share;
  const Explanation::Bottleneck consumer{Limit::consumer, -1, served, Hold::nothing};
  const bool is_asking = consumer_is_asking(evidence);
  if (is_asking && evidence.rates.wait_share < kContent) return consumer;
  const Candidate best = best_candidate(evidence);
  if (is_asking && served > best.score) return consumer;
  return best.score > 0 ? best.is : Explanation::Bottleneck();
}

}  // namespace penstock::autotune
