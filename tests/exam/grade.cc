#include "tests/exam/grade.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "tests/exam/fixed_settings.h"
#include "tests/exam/simulated_process.h"

namespace penstock::exam {
namespace {

constexpr Time kTick = 10 * kMillisecond, kLongestSilence = 5 * kSecond;
constexpr double kMiB = 1 << 20;
constexpr double kMostBytes = 2, kBytesOnTop = 32 << 20;  // of what the oracle holds at most

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
  double oracles_bytes() const {
    double most = 0;
    for (const PhaseFacts& phase : facts_) most = std::max(most, phase.optimum.peak_bytes);
    return most;
  }

  // Seconds until the rate of the second to come is 90 % of the best.
  double t90(std::size_t phase) const {
    for (Time time = begin(phase); time + kSecond <= end(phase); time += kTick) {
      if (rate(time, time + kSecond) >= 0.9 * best(phase)) return static_cast<double>(time - begin(phase)) * 1e-9;
    }
    return kNoBar;
  }

  // Seconds until the rate of the next two seconds is that share of the best.
  double reaches(double share) const {
    for (Time time = 0; time + 2 * kSecond <= end(0); time += kTick) {
      if (rate(time, time + 2 * kSecond) >= share * best(0)) return static_cast<double>(time) * 1e-9;
    }
    return kNoBar;
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
  grade.bytes = static_cast<double>(trace.run_.memory_peak) / std::max(trace.oracles_bytes(), 1.0);
  grade.cpu = trace.cpu_each(middle, end) / trace.facts_[last].optimum.cpu_s;
  const bool waits = trace.most(0, &Sample::pool_calls) > 0;
  grade.in_flight_max = trace.most(0, waits ? &Sample::pool_calls : &Sample::calls);
  const Time settled = std::min(trace.end(0) / 3, 10 * kSecond);
  grade.changes_per_min = static_cast<double>(trace.at(end).changes - trace.at(settled).changes) * 60e9 /
                          static_cast<double>(end - settled);
  std::vector<double> steps;
  for (const auto& step : trace.run_.steps) {
    if (step.end > middle) steps.push_back(static_cast<double>(step.time));
  }
  if (steps.empty()) return;
  std::ranges::sort(steps);
  const ConsumerPhase& phase = trace.scenario_.process.chains.front().consumer.back();
  const double as_planned = phase.cpu + phase.idle + phase.cpu_each * static_cast<double>(phase.burst);
  grade.step_p95 = steps[static_cast<std::size_t>(static_cast<double>(steps.size() - 1) * 0.95)] /
                   (trace.run_.step_alone_ns > 0 ? trace.run_.step_alone_ns : as_planned);
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
    if (trace.median(time, time + kSecond, &Sample::pool_calls) <= half)
      return static_cast<double>(time - change) * 1e-9;
  }
  return kNoBar;
}

// Of a stage, ns a call of one element in that phase.
double cpu_seen(const Trace& trace, std::size_t phase, std::size_t stage) {
  const auto& all = trace.run_.measured;
  const auto at = [&](Time time) {
    return std::ranges::find_if(all, [time](const Measured& each) { return each.time >= time; });
  };
  const auto from = at(trace.begin(phase) + kSecond), to = at(trace.end(phase));
  if (from == all.end() || to == all.end()) return 0;
  const auto elements = static_cast<double>(to->elements[stage] - from->elements[stage]);
  return elements > 0 ? static_cast<double>(to->cpu_ns[stage] - from->cpu_ns[stage]) / elements : 0;
}

// The largest of any stage that computes, against the first phase.
double drift(const Trace& trace) {
  constexpr double kComputes = 500'000;  // ns
  double most = 0;
  const std::size_t stages = trace.run_.measured.empty() ? 0 : trace.run_.measured.front().cpu_ns.size();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const double first = cpu_seen(trace, 0, stage);
    for (std::size_t phase = 1; phase < trace.phase_count() && first >= kComputes; ++phase) {
      most = std::max(most, std::abs(cpu_seen(trace, phase, stage) / first - 1));
    }
  }
  return most;
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
  at_most(grade, "bytes (MiB)", static_cast<double>(trace.run_.memory_peak) / kMiB,
          (kMostBytes * trace.oracles_bytes() + kBytesOnTop) / kMiB);
  at_most(grade, "CPU per element", grade.cpu, bars.cpu);
  at_most(grade, "in flight", grade.in_flight_max, bars.in_flight);
  at_most(grade, "consumer's step", grade.step_p95, bars.step_p95);
  if_asked("in flight after 5 s", bars.in_flight_after_5s,
           [&] { return trace.most(5 * kSecond, &Sample::pool_calls); });
  if_asked("in flight after 15 s", bars.in_flight_later,
           [&] { return trace.median(15 * kSecond, trace.scenario_.duration, &Sample::pool_calls); });
  if_asked("calls after 5 s", bars.parallelism, [&] { return trace.most(5 * kSecond, &Sample::calls); });
  if_asked("prefetch depth", bars.depth_at_end,
           [&] { return trace.most(last_change + 20 * kSecond, &Sample::prefetch); });
  if_asked("gives back (s)", bars.gives_back_s, [&] { return gives_back(trace); });
  if_asked("back as before", bars.back_as_before, [&] { return back_as_before(trace); });
  if_asked("seconds below its best", bars.below_best_s, [&] { return below_best(trace); });
  if_asked("reaches its rate (s)", bars.reaches_s, [&] { return trace.reaches(bars.x); });
  if_asked("drift of CPU time", bars.drift, [&] { return drift(trace); });
  if_asked("changes per minute after 60 s", bars.changes_per_min, [&] {
    const Time end = trace.scenario_.duration;
    return static_cast<double>(trace.at(end).changes - trace.at(60 * kSecond).changes) * 60e9 /
           static_cast<double>(end - 60 * kSecond);
  });
  if (bars.worst_second > 0)
    at_least(grade, "worst second of a change", worst_second_of_change(trace), bars.worst_second);
}

void check_gates(const Trace& trace, Grade& grade) {
  const auto bound = static_cast<double>(trace.run_.memory_bound);
  const auto peak = static_cast<double>(trace.run_.memory_peak);
  const auto open_io = static_cast<double>(trace.run_.open_io);
  if (peak > bound) grade.broken.push_back(text("bytes", peak, "at most", bound));
  if (trace.most(0, &Sample::pool_calls) > open_io) {
    grade.broken.push_back(text("open io", trace.most(0, &Sample::pool_calls), "at most", open_io));
  }
  for (Time time = 0; time + kLongestSilence <= trace.scenario_.duration; time += kSecond) {
    if (trace.delivered(time, time + kLongestSilence) > 0) continue;
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

// Every second; and ten times as often where it is asked how soon it names what is new.
void run_and_ask(SimulatedProcess& process, const Scenario& scenario, std::vector<Said>& said) {
  const Time last = phases(scenario).back(), step = kSecond / 10;
  for (Time time = step; time <= scenario.duration; time += step) {
    const bool is_soon = scenario.bars.explained_s != kNoBar && time > last && time <= last + 10 * kSecond;
    if (time % kSecond != 0 && !is_soon) continue;
    process.run_until(time);
    said.push_back({time, process.run(0).explain().bottleneck});
  }
}

void judge_how_soon(const Trace& trace, const std::vector<Said>& said, Grade& grade) {
  const Bars& bars = trace.scenario_.bars;
  const std::size_t last = trace.phase_count() - 1;
  if (bars.explained_s == kNoBar || said.empty() || trace.facts_[last].bottlenecks.empty()) return;
  const auto right = std::ranges::find_if(said, [&](const Said& each) {
    return each.time > trace.begin(last) && names(each.bottleneck, trace.facts_[last].bottlenecks);
  });
  at_most(grade, "explained (s)",
          right == said.end() ? kNoBar : static_cast<double>(right->time - trace.begin(last)) * 1e-9, bars.explained_s);
}

void judge_warnings(const Explanation& explanation, const Bars& bars, Grade& grade) {
  if (bars.warns_of_threads_in < 0) return;
  const bool is_told = std::ranges::any_of(explanation.warnings, [&](const Explanation::Warning& each) {
    return each.problem == Explanation::Problem::foreign_threads && each.stage == bars.warns_of_threads_in;
  });
  if (!is_told)
    grade.missed.push_back("no warning of threads that stage " + std::to_string(bars.warns_of_threads_in) + " starts");
}

// The first second of a phase after t90 is left out: the window that an explanation is about may still hold what was
// before.
void judge_explanations(const Trace& trace, const std::vector<Said>& said, Grade& grade) {
  double right = 0;
  double all = 0;
  for (std::size_t i = 0; i < trace.phase_count(); ++i) {
    const double t90 = trace.t90(i);
    if (t90 == kNoBar || trace.facts_[i].bottlenecks.empty()) continue;
    const Time from = trace.begin(i) + static_cast<Time>(t90 * 1e9) + kSecond;
    for (const Said& each : said) {
      if (each.time <= from || each.time > trace.end(i) || each.time % kSecond != 0) continue;
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

void steer(SimulatedProcess& process, const Scenario& scenario, const std::vector<PhaseFacts>& facts,
           const std::string& policy) {
  for (std::size_t i = 0; i < process.runs(); ++i) process.run(i).steer(policy_of(policy, scenario, facts));
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

std::unique_ptr<autotune::Policy> policy_of(const std::string& name, const Scenario& scenario,
                                            const std::vector<PhaseFacts>& facts) {
  if (name != "oracle") return autotune::make_policy(name);
  std::vector<Optimum> optima;
  for (const PhaseFacts& phase : facts) optima.push_back(phase.optimum);
  return fixed_settings(0, phases(scenario), std::move(optima));
}

std::vector<PhaseFacts> paired(const Scenario& scenario, std::vector<PhaseFacts> facts, std::uint64_t seed) {
  if (facts.size() > 1) return facts;
  SimulatedProcess process(scenario.process, seed);
  steer(process, scenario, facts, "oracle");
  process.run_until(scenario.duration);
  const double rate = facts_of(scenario, process.run(0).record()).front().optimum.rate;
  if (rate > 0) facts.front().optimum.rate = rate;
  return facts;
}

Grade grade(const Scenario& scenario, const std::vector<PhaseFacts>& facts, const std::string& policy,
            std::uint64_t seed) {
  SimulatedProcess process(scenario.process, seed);
  steer(process, scenario, facts, policy);
  std::vector<Said> said;
  const bool asked = std::ranges::any_of(facts, [](const PhaseFacts& each) { return !each.bottlenecks.empty(); });
  asked ? run_and_ask(process, scenario, said) : process.run_until(scenario.duration);
  const RunRecord run = process.run(0).record();
  const Trace trace(scenario, facts, run);
  Grade result = grade_of(trace);
  judge_explanations(trace, said, result);
  judge_how_soon(trace, said, result);
  judge_warnings(process.run(0).explain(), scenario.bars, result);
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
