#include "tests/exam/random_scenario.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/exam/fixed_settings.h"
#include "tests/exam/rate_bound.h"
#include "tests/exam/simulated_process.h"

namespace penstock::exam {
namespace {

constexpr double kFastest = 3'000;   // elements/s, for the sake of the time that the exam takes
constexpr double kElements = 4'000;  // that the last half should have
using Form = StageSpec::Form;

class Drawing {
 public:
  explicit Drawing(std::uint64_t number) : random_(0x5eed0000 + number) {}

  Scenario scenario(std::uint64_t number) {
    Scenario scenario;
    char id[16];
    std::snprintf(id, sizeof id, "R%03d", static_cast<int>(number));
    scenario.id = id;
    scenario.process.host.cores = one_of({1, 2, 2, 4, 4, 8, 16});
    cores_ = scenario.process.host.cores;
    const int runs = random_.uniform() < 0.12 ? 2 : 1;
    for (int i = 0; i < runs; ++i) scenario.process.chains.push_back(chain());
    // One of two that gets all the cores counts as much as the other would.
    for (ChainSpec& chain : scenario.process.chains) chain.weight = runs == 1 ? 1 : 1'000 / bound(chain);
    scenario.duration = static_cast<Time>(2e9 * std::clamp(kElements / slowest_, 15.0, 120.0));
    return scenario;
  }

 private:
  double one_of(std::vector<double> values) {
    return values[static_cast<std::size_t>(random_.below(static_cast<int>(values.size())))];
  }
  bool with_chance(double chance) { return random_.uniform() < chance; }
  double log_uniform(double low, double high) { return low * std::pow(high / low, random_.uniform()); }

  StageSpec waiting(ChainSpec& chain) {
    StageSpec stage;
    stage.name = "waiting";
    stage.form = with_chance(0.8) ? Form::blocks : Form::unknown;
    stage.blocked = Distribution::lognormal(log_uniform(2, 500) * kMs, random_.uniform(0, 2));
    stage.cpu = Distribution::constant(log_uniform(0.02, 0.2) * kMs);
    if (with_chance(0.25)) {
      stage.device = static_cast<int>(chain.devices.size());
      chain.devices.push_back({.slots = 2 + random_.below(30)});
    }
    if (with_chance(0.1)) stage.size = Distribution::two_points(1, 20, 0.02);
    return stage;
  }

  StageSpec computing() {
    StageSpec stage;
    stage.name = "computing";
    stage.form = with_chance(0.7) ? Form::computes : Form::unknown;
    stage.cpu = Distribution::lognormal(log_uniform(0.05, 8) * kMs, random_.uniform(0, 2));
    if (!with_chance(0.1)) return stage;
    stage.serial = true;
    stage.form = Form::computes;
    return stage;
  }

  ChainSpec chain() {
    ChainSpec chain;
    chain.open_io = static_cast<std::int64_t>(one_of({64, 64, 256}));
    const bool is_zip = with_chance(0.12);
    const int stages = 1 + random_.below(5);
    for (int i = 0; i < stages; ++i) chain.stages.push_back(with_chance(0.45) ? waiting(chain) : computing());
    if (is_zip) add_branch(chain);
    reshape(chain);
    const double bytes = log_uniform(1e3, 2e6);
    for (StageSpec& stage : chain.stages) {
      stage.ordered = stage.serial || with_chance(0.7);
      stage.result_bytes = bytes;
    }
    chain.memory =
        with_chance(0.15) ? static_cast<std::int64_t>(bytes * random_.uniform(10, 50)) : std::int64_t{1} << 28;
    slow_down(chain);
    consume(chain);
    return chain;
  }

  // A second one, zipped with what there is up to one of the stages.
  void add_branch(ChainSpec& chain) {
    const auto behind = 1 + random_.below(static_cast<int>(chain.stages.size()));
    std::vector<StageSpec> branch{another_source()};
    for (int stages = 1 + random_.below(2); stages > 0; --stages)
      branch.push_back(with_chance(0.45) ? waiting(chain) : computing());
    branch.push_back(zip_of_two());
    chain.stages.insert(chain.stages.begin() + behind, branch.begin(), branch.end());
  }

  // Perhaps shards of several elements at first, perhaps batches at the end.
  void reshape(ChainSpec& chain) {
    if (with_chance(0.08)) chain.stages.front().fan_out = Distribution::geometric(2 + random_.below(30));
    if (!with_chance(0.1)) return;
    StageSpec batch;
    batch.name = "batch";
    batch.serial = true;
    batch.cpu = Distribution::constant(2'000);
    batch.batch = 2 + random_.below(30);
    chain.stages.push_back(batch);
  }

  double bound(const ChainSpec& chain) const { return rate_bound(chain, cores_); }

  // Of any stage, for one element delivered.
  static double most_visits(const ChainSpec& chain) {
    double most = 1;
    for (std::size_t i = 0; i < chain.stages.size(); ++i)
      most = std::max(most, visits_of(chain, static_cast<int>(i) + 1));
    return most;
  }

  void slow_down(ChainSpec& chain) {
    const double excess = bound(chain) * most_visits(chain) / kFastest;
    if (excess <= 1) return;
    for (StageSpec& stage : chain.stages) stage.cpu = stage.cpu.times(excess);
  }

  void consume(ChainSpec& chain) {
    const double rate = bound(chain);
    ConsumerPhase& phase = chain.consumer.front();
    const double step = 1e9 / (rate * random_.uniform(0.3, 0.95));
    const double kind = random_.uniform();
    double demand = rate;
    if (kind < 0.25) {
      phase.idle = step;
    } else if (kind < 0.35) {
      phase.cpu = phase.idle = step / 2;
    } else if (kind < 0.5) {
      phase.burst = 4 + random_.below(29);
      phase.idle = step * static_cast<double>(phase.burst);
    }
    if (kind < 0.5) demand = 1e9 / step;
    slowest_ = std::min(slowest_, demand);
  }

  Random random_;
  double cores_ = 1;
  double slowest_ = 1e9;  // elements/s
};

double delivered(SimulatedRun& chain, Time duration) {
  const auto& samples = chain.samples();
  return static_cast<double>(chain.taken() - samples[static_cast<std::size_t>(duration / (20 * kMillisecond))].taken);
}

void check_gates(SimulatedRun& chain, Time duration, std::vector<std::string>& broken) {
  if (chain.snapshot().memory_peak > chain.record().memory_bound)
    broken.push_back("bytes " + std::to_string(chain.snapshot().memory_peak) + ", at most " +
                     std::to_string(chain.record().memory_bound));
  std::int64_t open = 0;
  for (const Sample& sample : chain.samples()) open = std::max(open, sample.pool_calls);
  if (open > chain.open_io()) broken.push_back("open io " + std::to_string(open));
  const auto& samples = chain.samples();
  if (samples[samples.size() * 7 / 10].taken == samples.back().taken)
    broken.push_back("deadlock before " + std::to_string(duration / kSecond) + " s");
}

}  // namespace

Scenario random_scenario(std::uint64_t number) { return Drawing(number).scenario(number); }

RandomResult sit_random(const Scenario& scenario, const Optimum& optimum, const std::string& policy,
                        std::uint64_t seed) {
  SimulatedProcess tuned(scenario.process, seed);
  SimulatedProcess best(scenario.process, seed);
  double got = 0;
  double wanted = 0;
  RandomResult result;
  for (std::size_t i = 0; i < tuned.runs(); ++i) {
    tuned.run(i).steer(autotune::make_policy(policy));
    best.run(i).steer(fixed_settings(static_cast<int>(i), {0}, {optimum}));
  }
  tuned.run_until(scenario.duration);
  best.run_until(scenario.duration);
  for (std::size_t i = 0; i < tuned.runs(); ++i) {
    got += scenario.process.chains[i].weight * delivered(tuned.run(i), scenario.duration);
    wanted += scenario.process.chains[i].weight * delivered(best.run(i), scenario.duration);
    check_gates(tuned.run(i), scenario.duration, result.broken);
  }
  result.x = got / std::max(wanted, 1e-9);
  return result;
}

}  // namespace penstock::exam
