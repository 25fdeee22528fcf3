#include "tests/exam/oracle.h"

#include <algorithm>
#include <cmath>

#include "autotune/policy.h"
#include "tests/exam/oracle_settings.h"
#include "tests/exam/random.h"
#include "tests/exam/simulated_process.h"
#include "tests/exam/rate_bound.h"

namespace penstock::exam {
namespace {

constexpr double kAsGood = 0.995;       // of the best rate
constexpr double kMaybeAsGood = 0.985;  // in the short first look
constexpr double kHopeless = 0.9;       // in half of that
constexpr double kNearTheBound = 0.97;
constexpr std::size_t kFinalists = 24;  // of the best rates, and again of the fewest bytes
constexpr std::size_t kOfDescent = 4;   // the same, of descents
constexpr std::uint64_t kRandomStarts = 1;
constexpr int kSeeds = 3;

std::int64_t permits_of(const ProcessSpec& process) {
  return static_cast<std::int64_t>(
      std::ceil(std::min(process.host.quota.at(0, process.host.cores), process.host.cores) - 0.01));
}

double taken_by_weight(SimulatedProcess& process, const ProcessSpec& spec) {
  double sum = 0;
  for (std::size_t i = 0; i < process.runs(); ++i)
    sum += spec.chains[i].weight * static_cast<double>(process.run(i).taken());
  return sum;
}

bool waits(const StageSpec& stage) {
  return !stage.serial && stage.form != StageSpec::Form::computes && !stage.blocked.is_zero();
}

// Calls by Little's law at the rate that the constants allow, and half as many again; less where that is more than may
// be open.
Settings start_of(const ChainSpec& chain, double cores) {
  const double rate = rate_bound(chain, cores) * 1e-9;
  const auto wanted = [&](std::size_t i) {
    return 2 + 1.5 * rate * visits_of(chain, static_cast<int>(i) + 1) *
                   (chain.stages[i].blocked.mean + chain.stages[i].cpu.mean);
  };
  double all = 0;
  for (std::size_t i = 0; i < chain.stages.size(); ++i) all += waits(chain.stages[i]) ? wanted(i) : 0;
  const double share = std::min(1.0, static_cast<double>(chain.open_io) / std::max(all, 1.0));
  Settings start;
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    const int index = static_cast<int>(i) + 1;
    if (has_window(chain.stages[i])) start.push_back({"window", index, 4 * chain.open_io});
    if (!waits(chain.stages[i])) continue;
    start.push_back({"parallelism", index, std::max<std::int64_t>(static_cast<std::int64_t>(share * wanted(i)), 1)});
    if (chain.stages[i].form == StageSpec::Form::unknown) start.push_back({"placement", index, 1});
  }
  return start;
}

// Long enough for some thousand elements, for every latency and, where times vary much, for a good number of the
// slowest.
Time short_look(const ProcessSpec& process) {
  double slowest = 0;
  for (const ChainSpec& chain : process.chains) {
    for (const StageSpec& stage : chain.stages) {
      const double spread = std::max(1.0, stage.blocked.cv * stage.blocked.cv);
      slowest = std::max(slowest, spread * stage.blocked.mean * stage.blocked_times.at(0, 1) + stage.cpu.mean);
    }
  }
  return std::clamp(static_cast<Time>(40 * slowest), 2 * kSecond, 30 * kSecond);
}

// The more the times vary, the more of them it takes.
Time long_look(const ProcessSpec& process) {
  double cv = 0;
  for (const StageSpec& stage : process.chains.front().stages) cv = std::max(cv, stage.cpu.cv);
  return static_cast<Time>(20e9 * (1 + 3 * cv * cv));
}

std::vector<Optimum> measure_all(const ProcessSpec& process, const std::vector<Settings>& all, Time duration,
                                 int seeds) {
  std::vector<Optimum> results;
  for (const Settings& settings : all) {
    if (are_allowed(settings, process)) results.push_back(measure(process, settings, duration, seeds));
  }
  return results;
}

// Among those that are as good as the best: the settings that hold the fewest bytes.
Optimum best_of(const std::vector<Optimum>& all) {
  Optimum best = *std::ranges::max_element(all, {}, &Optimum::rate);
  const double enough = kAsGood * best.rate;
  for (const Optimum& other : all) {
    if (other.rate < enough) continue;
    if (other.peak_bytes < best.peak_bytes) best.settings = other.settings;
    best.peak_bytes = std::min(best.peak_bytes, other.peak_bytes);
    best.cpu_s = std::min(best.cpu_s, other.cpu_s);
  }
  return best;
}

// Those with the best rates, and those with the fewest bytes among the good ones.
std::vector<Settings> finalists(std::vector<Optimum> all, std::size_t count) {
  std::vector<Settings> chosen;
  std::ranges::sort(all, std::greater(), &Optimum::rate);
  const double enough = kMaybeAsGood * all.front().rate;
  std::erase_if(all, [enough](const Optimum& each) { return each.rate < enough; });
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i) chosen.push_back(all[i].settings);
  std::ranges::stable_sort(all, {}, &Optimum::peak_bytes);
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i) chosen.push_back(all[i].settings);
  return chosen;
}

// Memory that fills slowly shows only in the long run.
Time last_look(const ProcessSpec& process, const std::vector<Optimum>& seen, Time otherwise) {
  const double most = std::ranges::max_element(seen, {}, &Optimum::peak_bytes)->peak_bytes;
  return most > 0.3 * static_cast<double>(process.chains.front().memory) ? std::max(otherwise, 60 * kSecond)
                                                                         : otherwise;
}

// The best of many that were tried was lucky, too: what it gives with seeds that have not chosen it.
Optimum confirmed(const ProcessSpec& process, Optimum best, Time duration) {
  const Optimum fresh = measure(process, best.settings, duration, kSeeds, kFreshSeed);
  best.rate = fresh.rate;
  best.cpu_s = fresh.cpu_s;
  return best;
}

}  // namespace

Optimum measure(const ProcessSpec& spec, const Settings& settings, Time duration, int seeds, std::uint64_t first_seed,
                double hopeful) {
  Optimum sum;
  for (int seed = 0; seed < seeds; ++seed) {
    SimulatedProcess process(spec, first_seed + static_cast<std::uint64_t>(seed));
    for (const Setting& each : settings)
      process.run(static_cast<std::size_t>(each.chain)).knob(each.knob, each.stage).set(each.value);
    const Time warm = duration / 4;
    process.run_until(warm);
    const double taken = taken_by_weight(process, spec);
    const double cpu = process.cpu_ns();
    process.run_until(duration / 2);
    const double so_far = (taken_by_weight(process, spec) - taken) * 1e9 / static_cast<double>(duration / 2 - warm);
    if (so_far < kHopeless * hopeful) return {so_far, 0, 0, settings};
    process.run_until(duration);
    const double more = std::max(taken_by_weight(process, spec) - taken, 1e-3);
    sum.rate += more * 1e9 / static_cast<double>(duration - warm);
    for (std::size_t i = 0; i < process.runs(); ++i)
      sum.peak_bytes += static_cast<double>(process.run(i).snapshot().memory_peak);
    sum.cpu_s += (process.cpu_ns() - cpu) * 1e-9 / more;
  }
  return {sum.rate / seeds, sum.peak_bytes / seeds, sum.cpu_s / seeds, settings};
}

Optimum search_all(const ProcessSpec& frozen) {
  const ChainSpec& chain = frozen.chains.front();
  const std::int64_t permits = permits_of(frozen);
  std::vector<Settings> last =
      finalists(measure_all(frozen, all_settings(chain, permits), short_look(frozen), 1), kFinalists);
  const Optimum first = best_of(measure_all(frozen, last, short_look(frozen), kSeeds));
  for (const Choice& choice : further_choices(chain, permits)) {
    for (const std::int64_t value : choice.values)
      last.push_back(with(first.settings, {choice.knob, choice.stage, value, 0}));
  }
  return confirmed(frozen, with_fewer_bytes(frozen, best_of(measure_all(frozen, last, long_look(frozen), kSeeds))),
                   long_look(frozen));
}

Optimum with_fewer_bytes(const ProcessSpec& frozen, Optimum best) {
  const std::vector<Settings> moves = small_moves(frozen.chains.front(), permits_of(frozen));
  for (bool better = true; better;) {
    better = false;
    for (const Settings& move : moves) {
      Settings settings = best.settings;
      for (const Setting& each : move) settings = with(settings, each);
      if (!are_allowed(settings, frozen)) continue;
      const Optimum other = measure(frozen, settings, 5 * kSecond, 1);
      if (other.peak_bytes > 0.97 * best.peak_bytes || other.rate < kMaybeAsGood * best.rate) continue;
      const Optimum sure = measure(frozen, settings, long_look(frozen), kSeeds);
      if (sure.rate < kAsGood * best.rate || sure.peak_bytes > 0.97 * best.peak_bytes) continue;
      best.peak_bytes = sure.peak_bytes;
      best.settings = settings;
      better = true;
    }
  }
  return best;
}

namespace {

std::vector<Choice> choices_of(const ProcessSpec& frozen) {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < frozen.chains.size(); ++i) {
    for (Choice choice : all_choices(frozen.chains[i], permits_of(frozen))) {
      choice.chain = static_cast<int>(i);
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

Settings by_littles_law(const ProcessSpec& frozen) {
  Settings start;
  for (std::size_t i = 0; i < frozen.chains.size(); ++i) {
    for (Setting setting : start_of(frozen.chains[i], frozen.host.cores)) {
      setting.chain = static_cast<int>(i);
      start.push_back(setting);
    }
  }
  return start;
}

// Where the controller ends: what finds less than that is no oracle.
Settings by_the_controller(const ProcessSpec& frozen) {
  SimulatedProcess process(frozen, kSearchSeed);
  for (std::size_t i = 0; i < process.runs(); ++i) process.run(i).steer(autotune::default_policy());
  process.run_until(std::max(20 * kSecond, short_look(frozen)));
  Settings settings;
  for (std::size_t i = 0; i < process.runs(); ++i) {
    for (const Knob& knob : process.run(i).knobs()) {
      if (!knob.user_fixed && knob.kind != KnobKind::memory)
        settings.push_back({knob.name, knob.stage, knob.get(), static_cast<int>(i)});
    }
  }
  return settings;
}

// Anywhere: a descent from one place ends on the nearest hill.
Settings at_random(const ProcessSpec& frozen, std::uint64_t number) {
  Random random(hash_of(frozen) + number);
  Settings settings;
  do {
    settings.clear();
    for (const Choice& choice : choices_of(frozen)) {
      const std::int64_t value =
          choice.values[static_cast<std::size_t>(random.below(static_cast<int>(choice.values.size())))];
      settings.push_back({choice.knob, choice.stage, value, choice.chain});
    }
  } while (!are_allowed(settings, frozen));
  return settings;
}

// One knob at a time, until none helps. All that was tried is added to `seen`.
void descend(const ProcessSpec& frozen, const Settings& start, std::vector<Optimum>& seen) {
  const Time duration = short_look(frozen);
  const std::vector<Choice> choices = choices_of(frozen);
  if (!are_allowed(start, frozen)) return;
  Optimum best = measure(frozen, start, duration, 1);
  seen.push_back(best);
  for (bool better = true; better;) {
    better = false;
    for (const Choice& choice : choices) {
      for (const std::int64_t value : choice.values) {
        const Settings settings = with(best.settings, {choice.knob, choice.stage, value, choice.chain});
        if (!are_allowed(settings, frozen)) continue;
        seen.push_back(measure(frozen, settings, duration, 1, kSearchSeed, best.rate));
        if (seen.back().rate < 1.003 * best.rate) continue;
        best = seen.back();
        better = true;
      }
    }
  }
}

// No setting could bring more than the little that is left: what the engine itself costs is in it.
bool is_near_the_bound(const ProcessSpec& frozen, const std::vector<Optimum>& seen) {
  if (frozen.chains.size() > 1) return false;
  const ChainSpec& chain = frozen.chains.front();
  const double bound = std::min(rate_bound(chain, frozen.host.quota.at(0, frozen.host.cores)), demand_of(chain));
  return std::ranges::max_element(seen, {}, &Optimum::rate)->rate >= kNearTheBound * bound;
}

struct Found {
  Optimum best;
  Time last_look;
};

Found descend_from_everywhere(const ProcessSpec& frozen) {
  std::vector<Optimum> seen;
  descend(frozen, by_littles_law(frozen), seen);
  if (!is_near_the_bound(frozen, seen)) {
    descend(frozen, by_the_controller(frozen), seen);
    for (std::uint64_t number = 0; number < kRandomStarts; ++number) descend(frozen, at_random(frozen, number), seen);
  }
  const Time last = last_look(frozen, seen, long_look(frozen));
  return {best_of(measure_all(frozen, finalists(seen, kOfDescent), last, kSeeds)), last};
}

}  // namespace

Optimum search(const ProcessSpec& frozen) {
  const Found found = descend_from_everywhere(frozen);
  return confirmed(frozen, with_fewer_bytes(frozen, found.best), found.last_look);
}

Optimum search_rate(const ProcessSpec& frozen) {
  const Found found = descend_from_everywhere(frozen);
  return confirmed(frozen, found.best, found.last_look);
}

}  // namespace penstock::exam
