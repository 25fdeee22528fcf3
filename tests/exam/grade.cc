#include "tests/exam/grade.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "tests/exam/fixed_settings.h"
#include "tests/exam/simulated_process.h"

namespace penstock::exam {
namespace {

constexpr Time kTick = 10 * kMillisecond;

// A run that is over, read by time.
class Trace {
 public:
  Trace(const Scenario& scenario, const std::vector<PhaseFacts>& facts, const RunRecord& run)
      : scenario_(scenario), facts_(facts), run_(run), phases_(phases(scenario)) {}

  const Sample& at(Time time) const {
    const auto tick = static_cast<std::size_t>(std::max<Time>(time / kTick, 1)) - 1;
    return run_.samples[std::min(tick, run_.samples.size() - 1)];
  }
  double delivered(Time from, Time to) const {
    return static_cast<double>(at(to).taken - (from < kTick ? 0 : at(from).taken));
  }
  double rate(Time from, Time to) const { return delivered(from, to) * 1e9 / static_cast<double>(to - from); }
  Time begin(std::size_t phase) const { return phases_[phase]; }
  Time middle(std::size_t phase) const { return begin(phase) + (end(phase) - begin(phase)) / 2 / kTick * kTick; }
  // From when on a phase is judged by what it uses.
  Time settled(std::size_t phase) const { return std::min(begin(phase) + 10 * kSecond, middle(phase)); }
  Time end(std::size_t phase) const { return phase + 1 < phases_.size() ? phases_[phase + 1] : scenario_.duration; }
  std::size_t phase_count() const { return phases_.size(); }
  double best(std::size_t phase) const { return facts_[phase].optimum.rate; }

  // Seconds until the rate of the second to come is 90 % of the best.
  double t90(std::size_t phase) const {
    for (Time time = begin(phase); time + kSecond <= end(phase); time += kTick) {
      if (rate(time, time + kSecond) >= 0.9 * best(phase)) return static_cast<double>(time - begin(phase)) * 1e-9;
    }
    return kNoBar;
  }

  // Nothing is delivered, though for a moment nothing was under way; or for far longer: where one call lasts long, all may have to
  // wait for it.
  bool stands_still(Time from) const {
    const Time soon = from + 5 * kSecond, late = from + 20 * kSecond;
    if (soon > scenario_.duration || delivered(from, soon) > 0) return false;
    for (Time time = from + kTick; time <= soon; time += kTick) {
      if (at(time).calls == 0) return true;
    }
    return late <= scenario_.duration && !(delivered(from, late) > 0);
  }

  double median(Time from, Time to, std::int64_t Sample::*value) const {
    std::vector<std::int64_t> values;
    for (Time time = std::max(from, kTick); time <= to; time += kTick) values.push_back(at(time).*value);
    if (values.empty()) return 0;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return static_cast<double>(values[values.size() / 2]);
  }

  double most(Time from, std::int64_t Sample::*value) const {
    std::int64_t most = 0;
    for (const Sample& sample : run_.samples) {
      if (sample.time > from) most = std::max(most, sample.*value);
    }
    return static_cast<double>(most);
  }

  double cpu_each(Time from, Time to) const {
    return (at(to).cpu_ns - at(from).cpu_ns) * 1e-9 / std::max(delivered(from, to), 1.0);
  }

  const Scenario& scenario_;
  const std::vector<PhaseFacts>& facts_;
  const RunRecord& run_;
  const std::vector<Time> phases_;
};

std::string text(const char* what, double is, const char* wanted, double bar) {
  char line[160];
  std::snprintf(line, sizeof line, "%s %.3g, %s %.3g", what, is, wanted, bar);
  return line;
}

void at_least(Grade& grade, const char* what, double is, double bar) {
  if (!(is >= bar)) grade.missed.push_back(text(what, is, "at least", bar));
}

void at_most(Grade& grade, const char* what, double is, double bar) {
  if (!(is <= bar)) grade.missed.push_back(text(what, is, "at most", bar));
}

void measure_rates(const Trace& trace, Grade& grade) {
  double got = 0;
  double wanted = 0;
  double all = 0;
  double all_wanted = 0;
  for (std::size_t i = 0; i < trace.phase_count(); ++i) {
    const Time begin = trace.begin(i);
    const Time end = trace.end(i);
    const Time middle = trace.middle(i);
    got += trace.delivered(middle, end);
    wanted += trace.best(i) * static_cast<double>(end - middle) * 1e-9;
    all += trace.delivered(begin, end);
    all_wanted += trace.best(i) * static_cast<double>(end - begin) * 1e-9;
    const double t90 = trace.t90(i);
    if (i == 0) grade.t90_s = t90;
    if (i > 0) grade.recover_s = std::max(grade.recover_s, t90);
  }
  grade.x = got / wanted;
  grade.yield = all / all_wanted;
}

void measure_cost(const Trace& trace, Grade& grade) {
  const std::size_t last = trace.phase_count() - 1;
  const Time end = trace.end(last);
  const Time middle = trace.middle(last);
  double bytes = 0;
  for (const PhaseFacts& phase : trace.facts_) bytes = std::max(bytes, phase.optimum.peak_bytes);
  grade.bytes = static_cast<double>(trace.run_.memory_peak) / std::max(bytes, 1.0);
  grade.cpu = trace.cpu_each(middle, end) / trace.facts_[last].optimum.cpu_s;
  const bool waits = trace.most(0, &Sample::pool_calls) > 0;
  grade.in_flight_max = trace.most(0, waits ? &Sample::pool_calls : &Sample::calls);
  const Time settled = std::min(trace.end(0) / 3, 10 * kSecond);
  grade.changes_per_min = static_cast<double>(trace.at(end).changes - trace.at(settled).changes) * 60e9 / static_cast<double>(end - settled);
  std::vector<double> steps;
  for (const auto& step : trace.run_.steps) {
    if (step.end > middle) steps.push_back(static_cast<double>(step.time));
  }
  if (steps.empty()) return;
  std::ranges::sort(steps);
  const ConsumerPhase& phase = trace.scenario_.plant.chains.front().consumer.back();
  const double as_planned = phase.cpu + phase.idle + phase.cpu_each * static_cast<double>(phase.burst);
  grade.step_p95 = steps[static_cast<std::size_t>(static_cast<double>(steps.size() - 1) * 0.95)] / (trace.run_.step_alone_ns > 0 ? trace.run_.step_alone_ns : as_planned);
}

// Seconds in a row in which it is more than 15 % below the best second so far.
double below_best(const Trace& trace) {
  double best = 0;
  double row = 0;
  double longest = 0;
  for (Time time = 0; time + kSecond <= trace.scenario_.duration; time += 100 * kMillisecond) {
    const double rate = trace.rate(time, time + kSecond);
    best = std::max(best, rate);
    row = rate < 0.85 * best ? row + 0.1 : 0;
    longest = std::max(longest, row);
  }
  return longest;
}

double worst_second_of_change(const Trace& trace) {
  const Time end = trace.scenario_.duration;
  const double mean = trace.rate(60 * kSecond, end);
  double worst = kNoBar;
  for (Time time = 60 * kSecond; time + kSecond <= end; time += kTick) {
    if (trace.at(time).changes == trace.at(time - kTick).changes) continue;
    worst = std::min(worst, trace.rate(time, time + kSecond) / mean);
  }
  return worst;
}

double gives_back(const Trace& trace) {
  const std::size_t last = trace.phase_count() - 1;
  const Time change = trace.begin(last);
  const double before = trace.median(change - 5 * kSecond, change, &Sample::pool_calls);
  const double needed = trace.median(trace.settled(0), trace.end(0), &Sample::pool_calls);
  const double half = needed + (before - needed) / 2;
  for (Time time = change; time + kSecond < trace.end(last); time += kTick) {
    if (trace.median(time, time + kSecond, &Sample::pool_calls) <= half) return static_cast<double>(time - change) * 1e-9;
  }
  return kNoBar;
}

double back_as_before(const Trace& trace) {
  const std::size_t last = trace.phase_count() - 1;
  const auto both = [&](Time from, Time to) {
    return std::pair(trace.cpu_each(from, to), trace.median(from, to, &Sample::bytes));
  };
  const auto [cpu_before, bytes_before] = both(trace.settled(0), trace.end(0));
  const auto [cpu_after, bytes_after] = both(trace.settled(last), trace.end(last));
  return std::max(cpu_after / cpu_before, bytes_after / bytes_before);
}

void judge(const Trace& trace, Grade& grade) {
  const Bars& bars = trace.scenario_.bars;
  const Time last_change = trace.begin(trace.phase_count() - 1);
  const auto if_asked = [&](const char* what, double bar, const std::function<double()>& value) {
    if (bar != kNoBar) at_most(grade, what, value(), bar);
  };
  at_least(grade, "rate", grade.x, bars.x);
  at_least(grade, "yield", grade.yield, bars.yield);
  at_most(grade, "t90 (s)", grade.t90_s, bars.t90_s);
  at_most(grade, "recovery (s)", grade.recover_s, bars.recover_s);
  at_most(grade, "bytes", grade.bytes, bars.bytes);
  at_most(grade, "CPU per element", grade.cpu, bars.cpu);
  at_most(grade, "in flight", grade.in_flight_max, bars.in_flight);
  at_most(grade, "consumer's step", grade.step_p95, bars.step_p95);
  if_asked("in flight after 5 s", bars.in_flight_after_5s, [&] { return trace.most(5 * kSecond, &Sample::pool_calls); });
  if_asked("in flight after 15 s", bars.in_flight_later, [&] { return trace.median(15 * kSecond, trace.scenario_.duration, &Sample::pool_calls); });
  if_asked("calls after 5 s", bars.parallelism, [&] { return trace.most(5 * kSecond, &Sample::calls); });
  if_asked("prefetch depth", bars.depth_at_end, [&] { return trace.most(last_change + 20 * kSecond, &Sample::prefetch); });
  if_asked("gives back (s)", bars.gives_back_s, [&] { return gives_back(trace); });
  if_asked("back as before", bars.back_as_before, [&] { return back_as_before(trace); });
  if_asked("seconds below its best", bars.below_best_s, [&] { return below_best(trace); });
  if_asked("changes per minute after 60 s", bars.changes_per_min, [&] {
    const Time end = trace.scenario_.duration;
    return static_cast<double>(trace.at(end).changes - trace.at(60 * kSecond).changes) * 60e9 / static_cast<double>(end - 60 * kSecond);
  });
  if (bars.worst_second > 0) at_least(grade, "worst second of a change", worst_second_of_change(trace), bars.worst_second);
}

void check_gates(const Trace& trace, Grade& grade) {
  const auto bound = static_cast<double>(trace.run_.memory_bound);
  const auto peak = static_cast<double>(trace.run_.memory_peak);
  const auto open_io = static_cast<double>(trace.run_.open_io);
  if (peak > bound) grade.broken.push_back(text("bytes", peak, "at most", bound));
  if (trace.most(0, &Sample::pool_calls) > open_io) {
    grade.broken.push_back(text("open io", trace.most(0, &Sample::pool_calls), "at most", open_io));
  }
  for (Time time = 0; time < trace.scenario_.duration; time += kSecond) {
    if (!trace.stands_still(time)) continue;
    return grade.broken.push_back(text("deadlock at (s)", static_cast<double>(time) * 1e-9, "", 0));
  }
}

bool names(const Explanation::Bottleneck& said, const std::vector<Resource>& truth) {
  using Kind = Resource::Kind;
  Resource resource;
  switch (said.limit) {
    case Limit::cpu: resource = {Kind::cpu, -1}; break;
    case Limit::consumer: resource = {Kind::consumer, -1}; break;
    case Limit::memory: resource = {Kind::memory, -1}; break;
    case Limit::serial:
    case Limit::parallel:
    case Limit::ceiling: resource = {Kind::stage, said.stage}; break;
    default: return false;
  }
  return std::ranges::find(truth, resource) != truth.end();
}

struct Said {
  Time time;
  Explanation::Bottleneck bottleneck;
};

std::string text_of(const Explanation::Bottleneck& said) {
  return name_of(said.limit) + (said.stage < 0 ? std::string() : " " + std::to_string(said.stage));
}

void run_and_ask(SimulatedProcess& plant, const Scenario& scenario, std::vector<Said>& said) {
  for (Time time = kSecond; time <= scenario.duration; time += kSecond) {
    plant.run_until(time);
    said.push_back({time, plant.run(0).explain().bottleneck});
  }
}

// The first second of a phase after t90 is left out: the window that an explanation is about may still hold what was before.
void judge_explanations(const Trace& trace, const std::vector<Said>& said, Grade& grade) {
  double right = 0;
  double all = 0;
  for (std::size_t i = 0; i < trace.phase_count(); ++i) {
    const double t90 = trace.t90(i);
    if (t90 == kNoBar || trace.facts_[i].bottlenecks.empty()) continue;
    const Time from = trace.begin(i) + static_cast<Time>(t90 * 1e9) + kSecond;
    for (const Said& each : said) {
      if (each.time <= from || each.time > trace.end(i)) continue;
      const bool is_right = names(each.bottleneck, trace.facts_[i].bottlenecks);
      ++all;
      right += is_right;
      if (is_right) continue;
      const std::string truth = ", where twice as much helps of: " + text_of(trace.facts_[i].bottlenecks);
      ++grade.wrongly_named[text_of(each.bottleneck) + truth];
    }
  }
  if (all > 0) grade.explained = right / all;
}

void steer(SimulatedProcess& plant, const Scenario& scenario, const std::vector<PhaseFacts>& facts, const std::string& policy) {
  for (std::size_t i = 0; i < plant.runs(); ++i) plant.run(i).steer(policy_of(policy, scenario, facts));
}

Grade grade_of(const Trace& trace) {
  Grade result;
  measure_rates(trace, result);
  measure_cost(trace, result);
  judge(trace, result);
  check_gates(trace, result);
  return result;
}

}  // namespace

std::unique_ptr<autotune::Policy> policy_of(const std::string& name, const Scenario& scenario, const std::vector<PhaseFacts>& facts) {
  if (name != "oracle") return autotune::make_policy(name);
  std::vector<Optimum> optima;
  for (const PhaseFacts& phase : facts) optima.push_back(phase.optimum);
  return fixed_settings(0, phases(scenario), std::move(optima));
}

std::vector<PhaseFacts> paired(const Scenario& scenario, std::vector<PhaseFacts> facts, std::uint64_t seed) {
  if (facts.size() > 1) return facts;
  SimulatedProcess plant(scenario.plant, seed);
  steer(plant, scenario, facts, "oracle");
  plant.run_until(scenario.duration);
  const double rate = facts_of(scenario, plant.run(0).record()).front().optimum.rate;
  if (rate > 0) facts.front().optimum.rate = rate;
  return facts;
}

Grade grade(const Scenario& scenario, const std::vector<PhaseFacts>& facts, const std::string& policy, std::uint64_t seed) {
  SimulatedProcess plant(scenario.plant, seed);
  steer(plant, scenario, facts, policy);
  std::vector<Said> said;
  const bool asked = std::ranges::any_of(facts, [](const PhaseFacts& each) { return !each.bottlenecks.empty(); });
  asked ? run_and_ask(plant, scenario, said) : plant.run_until(scenario.duration);
  const RunRecord run = plant.run(0).record();
  const Trace trace(scenario, facts, run);
  Grade result = grade_of(trace);
  judge_explanations(trace, said, result);
  return result;
}

Grade grade(const Scenario& scenario, const std::vector<PhaseFacts>& facts, const RunRecord& run) {
  return grade_of(Trace(scenario, facts, run));
}

std::vector<PhaseFacts> facts_of(const Scenario& scenario, const RunRecord& run) {
  std::vector<PhaseFacts> facts(phases(scenario).size());
  const Trace trace(scenario, facts, run);
  std::vector<PhaseFacts> found(facts.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    Optimum& optimum = found[i].optimum;
    optimum.rate = trace.rate(trace.middle(i), trace.end(i));
    optimum.peak_bytes = static_cast<double>(run.memory_peak);
    optimum.cpu_s = trace.cpu_each(trace.middle(i), trace.end(i));
  }
  return found;
}

}  // namespace penstock::exam
