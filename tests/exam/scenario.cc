#include "tests/exam/scenario.h"

#include <algorithm>
#include <utility>

namespace penstock::exam {
namespace {

constexpr std::int64_t kMB = 1'000'000;
using Form = StageSpec::Form;

// A call that waits, with a little work.
StageSpec io(double ms, double cv = 0.5) {
  StageSpec stage;
  stage.name = "io";
  stage.form = Form::blocks;
  stage.blocked = Distribution::lognormal(ms * kMs, cv);
  stage.cpu = Distribution::constant(0.05 * kMs);
  return stage;
}

StageSpec cpu(double ms, double cv = 0.3) {
  StageSpec stage;
  stage.name = "cpu";
  stage.cpu = Distribution::lognormal(ms * kMs, cv);
  return stage;
}

ChainSpec chain_of(std::vector<StageSpec> stages) {
  ChainSpec chain;
  chain.stages = std::move(stages);
  return chain;
}

Scenario scenario_of(std::string id, std::string what, ChainSpec chain, Bars bars) {
  Scenario scenario;
  scenario.id = std::move(id);
  scenario.what = std::move(what);
  scenario.process.chains.push_back(std::move(chain));
  scenario.bars = bars;
  return scenario;
}

ChainSpec with_consumer(ChainSpec chain, std::vector<ConsumerPhase> phases) {
  chain.consumer = std::move(phases);
  return chain;
}

Scenario lasting(Scenario scenario, Time duration) {
  scenario.duration = duration;
  return scenario;
}

void add_steady(std::vector<Scenario>& all) {
  all.push_back(scenario_of("S01", "io 10 ms, cpu 1 ms", chain_of({io(10), cpu(1)}),
                            {.x = 0.97, .yield = 0.96, .t90_s = 0.5, .bytes = 1.5}));
  ChainSpec remote = chain_of({io(100), cpu(1)});
  remote.open_io = 256;
  all.push_back(scenario_of("S02", "remote io 100 ms, cpu 1 ms", remote, {.x = 0.95, .t90_s = 1.5, .in_flight = 256}));
  all.push_back(scenario_of("S03", "cpu 4 ms alone", chain_of({cpu(4)}), {.x = 0.98, .cpu = 1.03, .parallelism = 3}));
  all.push_back(scenario_of("S04", "two cpu maps, 1 ms and 3 ms", chain_of({cpu(1), cpu(3)}), {.x = 0.98}));
  const ConsumerPhase trainer = {.cpu = 5 * kMs, .idle = 5 * kMs};
  all.push_back(scenario_of("S05", "slow consumer: steps of 10 ms, half of it on a CPU",
                            with_consumer(chain_of({cpu(4)}), {trainer}), {.x = 0.98, .cpu = 1.1, .step_p95 = 1.1}));
}

void add_demand(std::vector<Scenario>& all) {
  const ConsumerPhase bursts = {.burst = 32, .idle = 96 * kMs};
  const ConsumerPhase even = {.from = 60 * kSecond, .idle = 3 * kMs};
  all.push_back(lasting(scenario_of("S06", "bursts of 32, 96 ms apart, later evenly",
                                    with_consumer(chain_of({io(10), cpu(1)}), {bursts, even}),
                                    {.x = 0.97, .t90_s = 0.3, .depth_at_end = 8}),
                        90 * kSecond));
  ChainSpec device = with_consumer(chain_of({io(8), cpu(0.1)}), {{.idle = kMs / 1.8}});
  device.devices = {{.slots = 8}};
  device.stages[0].device = 0;
  all.push_back(scenario_of("S07", "a device that takes 8 requests at once, 8 ms each", device,
                            {.x = 0.97, .in_flight_later = 16, .in_flight_after_5s = 64}));
  ChainSpec slower = with_consumer(chain_of({io(10), cpu(0.5)}), {{.idle = 2 * kMs}});
  slower.stages[0].blocked_times.steps = {{40 * kSecond, 8}, {80 * kSecond, 1}};
  all.push_back(lasting(scenario_of("S08", "io 10 ms, 80 ms from 40 to 80 s, 500/s wanted", slower,
                                    {.x = 0.97, .recover_s = 1, .gives_back_s = 10}),
                        120 * kSecond));
  ChainSpec moves = chain_of({io(8), cpu(2)});
  moves.devices = {{.slots = 4}};
  moves.stages[0].device = 0;
  moves.stages[1].cpu_times.steps = {{40 * kSecond, 3}};
  all.push_back(lasting(scenario_of("S09", "the bottleneck moves from a device to the CPU at 40 s", moves,
                                    {.x = 0.97, .recover_s = 1, .explained_s = 1}),
                        80 * kSecond));
  const std::vector<ConsumerPhase> steps = {
      {.idle = 20 * kMs}, {.from = 20 * kSecond, .idle = 1 * kMs}, {.from = 40 * kSecond, .idle = 20 * kMs}};
  all.push_back(lasting(
      scenario_of("S10", "consumer 20 ms, 1 ms from 20 to 40 s", with_consumer(chain_of({io(10), cpu(1)}), steps),
                  {.x = 0.97, .recover_s = 0.5, .back_as_before = 1.1}),
      60 * kSecond));
}

void add_shapes(std::vector<Scenario>& all) {
  ChainSpec shards = chain_of({io(50), cpu(0.5)});
  shards.stages[0].fan_out = Distribution::geometric(16);
  all.push_back(
      scenario_of("S11", "shards of 16 elements on average, io 50 ms, cpu 0.5 ms", shards, {.x = 0.95, .bytes = 2}));
  ChainSpec large = chain_of({io(50), cpu(20)});
  large.memory = 128 * kMB;
  for (StageSpec& stage : large.stages) stage.result_bytes = 20 * kMB;
  all.push_back(scenario_of("S12", "elements of 20 MB, 128 MB of memory", large, {.x = 0.95}));
  ChainSpec mixed = chain_of({io(10), cpu(1)});
  mixed.memory = 64 * kMB;
  mixed.stages[0].size = Distribution::two_points(1, 100, 0.005);
  all.push_back(
      scenario_of("S13", "1 in 200 elements is 100 x larger, 64 MB of memory", mixed, {.x = 0.93, .yield = 0.93}));
  ChainSpec tail = chain_of({io(5), cpu(1)});
  tail.stages[0].blocked = Distribution::pareto(5 * kMs, 1.5, 250 * kMs);
  all.push_back(scenario_of("S14", "io with a heavy tail: Pareto 1.5, mean 5 ms, at most 250 ms, in order", tail,
                            {.x = 0.95, .in_flight = 64}));
  for (StageSpec& stage : tail.stages) stage.ordered = false;
  all.push_back(scenario_of("S14u", "the same in any order", tail, {.x = 0.98, .in_flight = 64}));
}

void add_traps(std::vector<Scenario>& all) {
  ChainSpec convoy = chain_of({io(1, 0.3)});
  convoy.devices = {{.rates = {700, 1261, 1294, 1126, 853, 580, 483, 386}}};
  convoy.stages[0].device = 0;
  all.push_back(scenario_of("S15", "a lock: the rate falls beyond 3 calls", convoy,
                            {.x = 0.93, .reaches_s = 10, .below_best_s = 3}));
  ChainSpec tiny =
      with_consumer(chain_of({cpu(0.001, 0), cpu(0.001, 0), cpu(0.001, 0)}), {{.burst = 64, .cpu_each = 50}});
  for (StageSpec& stage : tiny.stages) stage.result_bytes = 64;
  all.push_back(lasting(scenario_of("S16", "tiny elements: three maps of 1 us", tiny, {.x = 0.95}), 5 * kSecond));
  all.push_back(lasting(scenario_of("S17", "noise: cv 1.5, 10 minutes", chain_of({io(10, 1.5), cpu(2, 1.5)}),
                                    {.x = 0.96, .yield = 0.96, .changes_per_min = 1, .worst_second = 0.85}),
                        600 * kSecond));
  Scenario crowded =
      scenario_of("S18", "a foreign process from 20 to 40 s", chain_of({io(10), cpu(1)}), {.x = 0.9, .drift = 0.1});
  crowded.process.host.foreign.steps = {{20 * kSecond, 1}, {40 * kSecond, 0}};
  all.push_back(lasting(crowded, 60 * kSecond));
  Scenario quota = scenario_of("S18q", "a quota of one core from 20 to 40 s", chain_of({io(10), cpu(1)}),
                               {.x = 0.9, .recover_s = 2});
  quota.process.host.quota.steps = {{0, 2}, {20 * kSecond, 1}, {40 * kSecond, 2}};
  all.push_back(lasting(quota, 60 * kSecond));
  StageSpec nested = cpu(0.1);
  nested.form = Form::unknown;
  nested.own_threads = 4;
  nested.own_cpu = Distribution::lognormal(1 * kMs, 0.3);
  all.push_back(scenario_of("S19", "the function starts 4 threads of its own, 1 ms each", chain_of({nested}),
                            {.x = 0.9, .warns_of_threads_in = 1}));
}

ChainSpec pictures() {
  StageSpec read = io(0.2);
  read.name = "read";
  read.result_bytes = 110'000;
  StageSpec decode = cpu(5, 0.5);
  decode.name = "decode";
  decode.result_bytes = 550'000;
  StageSpec crop = cpu(1);
  crop.name = "crop";
  crop.result_bytes = 150'000;
  ChainSpec chain = chain_of({read, decode, crop});
  chain.pictures = true;
  return chain;
}

void add_pictures(std::vector<Scenario>& all) {
  ChainSpec local = pictures();
  local.stages[0].blocked_times.steps = {{20 * kSecond, 101}};
  all.push_back(lasting(scenario_of("S20", "pictures, from 20 s on with 20 ms for each file", local,
                                    {.x = 0.95, .t90_s = 2, .recover_s = 2}),
                        40 * kSecond));
  ChainSpec larger = pictures();
  larger.stages[0].blocked = Distribution::lognormal(20.2 * kMs, 0.5);
  larger.stages[0].size = Distribution::two_points(1, 10, 0.05);
  for (std::size_t i = 1; i < larger.stages.size(); ++i) larger.stages[i].time_follows_size = true;
  all.push_back(scenario_of("S20t", "pictures, 1 in 20 is 10 x larger", larger, {.x = 0.93, .t90_s = 2}));
}

void add_trees(std::vector<Scenario>& all) {
  all.push_back(
      scenario_of("S21", "two branches, each io 10 ms and cpu 1 ms, mixed 9:1, then cpu 0.2 ms",
                  chain_of({io(10), cpu(1), another_source(), io(10), cpu(1), sample_of({0.9, 0.1}), cpu(0.2)}),
                  {.x = 0.97, .yield = 0.96, .t90_s = 0.5}));
  all.push_back(scenario_of("S22", "zip of a branch of io 10 ms and one of cpu 2 ms, then cpu 0.2 ms",
                            chain_of({io(10), another_source(), cpu(2), zip_of_two(), cpu(0.2)}),
                            {.x = 0.97, .yield = 0.96, .t90_s = 0.5}));
}

// Files of some 64 elements each, in turn.
Scenario files(std::string id, std::int64_t cycle_length, Bars bars) {
  const StageSpec file = nest_of(io(10), Distribution::lognormal(64, 0.3), cycle_length);
  return scenario_of(std::move(id), std::to_string(cycle_length) + " files in turn, io 10 ms an element, cpu 1 ms",
                     chain_of({file, cpu(1)}), bars);
}

void add_nests(std::vector<Scenario>& all) {
  all.push_back(files("S23", 16, {.x = 0.97, .yield = 0.96, .t90_s = 0.5, .bytes = 1.5}));
  all.push_back(files("S24", 64, {.x = 0.97, .yield = 0.96, .t90_s = 0.5, .bytes = 1.5}));
}

void collect(std::vector<Time>& times, const Schedule& schedule) {
  for (const auto& step : schedule.steps) times.push_back(step.from);
}

void freeze(Schedule& schedule, Time time, double otherwise) {
  if (!schedule.steps.empty()) schedule.steps = {{0, schedule.at(time, otherwise)}};
}

}  // namespace

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  add_steady(all);
  add_demand(all);
  add_shapes(all);
  add_traps(all);
  add_pictures(all);
  add_trees(all);
  add_nests(all);
  return all;
}

std::vector<Time> phases(const Scenario& scenario) {
  std::vector<Time> times = {0};
  collect(times, scenario.process.host.quota);
  collect(times, scenario.process.host.foreign);
  for (const ChainSpec& chain : scenario.process.chains) {
    for (const ConsumerPhase& phase : chain.consumer) times.push_back(phase.from);
    for (const StageSpec& stage : chain.stages) {
      collect(times, stage.blocked_times);
      collect(times, stage.cpu_times);
    }
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

ProcessSpec frozen_at(const ProcessSpec& spec, Time time) {
  ProcessSpec frozen = spec;
  freeze(frozen.host.quota, time, spec.host.cores);
  freeze(frozen.host.foreign, time, 0);
  for (ChainSpec& chain : frozen.chains) {
    ConsumerPhase phase = phase_at(chain.consumer, time);
    phase.from = 0;
    chain.consumer = {phase};
    for (StageSpec& stage : chain.stages) {
      freeze(stage.blocked_times, time, 1);
      freeze(stage.cpu_times, time, 1);
    }
  }
  return frozen;
}

Scenario scaled(const Scenario& scenario, double times, double sizes) {
  Scenario result = scenario;
  for (ChainSpec& chain : result.process.chains) {
    chain.memory = static_cast<std::int64_t>(static_cast<double>(chain.memory) * sizes);
    for (DeviceSpec& device : chain.devices) {
      for (double& rate : device.rates) rate /= times;
    }
    for (ConsumerPhase& phase : chain.consumer) phase.cpu *= times, phase.cpu_each *= times, phase.idle *= times;
    for (StageSpec& stage : chain.stages) {
      stage.blocked = stage.blocked.times(times);
      stage.cpu = stage.cpu.times(times);
      stage.own_cpu = stage.own_cpu.times(times);
      stage.result_bytes *= sizes;
    }
  }
  return result;
}

}  // namespace penstock::exam
