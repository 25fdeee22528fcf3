#include "tests/exam/real/peer.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "autotune/policy.h"
#include "tests/exam/real/real_run.h"
#include "tests/exam/real/timing.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {
namespace {

constexpr double kTinyBytes = 64;

StageSpec waiting(Distribution time) {
  StageSpec stage;
  stage.name = "io";
  stage.form = StageSpec::Form::blocks;
  stage.blocked = time;
  stage.result_bytes = kTinyBytes;
  return stage;
}

StageSpec computing(double ms) {
  StageSpec stage;
  stage.name = "cpu";
  stage.cpu = Distribution::lognormal(ms * kMs, 0.3);
  stage.result_bytes = kTinyBytes;
  return stage;
}

Distribution varying(double ms) { return Distribution::lognormal(ms * kMs, 0.3); }

// Of mean 5 ms before it is cut off at 250 ms.
Distribution heavy_tail() {
  constexpr double kAlpha = 1.5, kMean = 5 * kMs;
  return {.kind = Distribution::Kind::pareto,
          .mean = kMean,
          .a = kMean * (kAlpha - 1) / kAlpha,
          .b = kAlpha,
          .c = 250 * kMs};
}

Scenario peer_case(std::string id, std::vector<StageSpec> stages) {
  Scenario scenario;
  scenario.id = std::move(id);
  scenario.duration = 5 * kSecond;
  scenario.process.chains.emplace_back().stages = std::move(stages);
  return scenario;
}

ChainSpec& chain_of(Scenario& scenario) { return scenario.process.chains.front(); }

Scenario remote() {
  Scenario scenario = peer_case("S02", {waiting(varying(100)), computing(1)});
  chain_of(scenario).open_io = 256;
  return scenario;
}

Scenario device() {
  Scenario scenario = peer_case("S07", {waiting(Distribution::constant(8 * kMs))});
  chain_of(scenario).devices = {{.slots = 8}};
  chain_of(scenario).stages[0].device = 0;
  return scenario;
}

Scenario latency_step() {
  Scenario scenario = peer_case("S08", {waiting(varying(10))});
  chain_of(scenario).stages[0].blocked_times.steps = {{5 * kSecond, 8}, {10 * kSecond, 1}};
  chain_of(scenario).consumer = {{.idle = 1.9 * kMs}};
  scenario.duration = 15 * kSecond;
  return scenario;
}

Scenario large() {
  Scenario scenario = peer_case("S12", {waiting(varying(50)), computing(20)});
  chain_of(scenario).memory = std::int64_t{128} << 20;
  for (StageSpec& stage : chain_of(scenario).stages) stage.result_bytes = 20e6;
  return scenario;
}

// The rate falls on beyond 8 calls.
Scenario convoy() {
  Scenario scenario = peer_case("S15", {waiting(Distribution::constant(kMs))});
  std::vector<double> rates = {650, 1261, 1294, 1126, 830, 580, 470, 386};
  for (std::size_t calls = rates.size() + 1; calls <= 256; ++calls)
    rates.push_back(386.0 * 8 / static_cast<double>(calls));
  chain_of(scenario).devices = {{.rates = std::move(rates)}};
  chain_of(scenario).stages[0].device = 0;
  return scenario;
}

std::vector<std::int64_t> taken_per_tenth(const RunRecord& run) {
  constexpr std::size_t kTicks = 10;
  std::vector<std::int64_t> tenths;
  std::int64_t before = 0;
  for (std::size_t i = kTicks - 1; i < run.samples.size(); i += kTicks) {
    tenths.push_back(run.samples[i].taken - before);
    before = run.samples[i].taken;
  }
  return tenths;
}

std::int64_t most_waiting(const RunRecord& run) {
  return std::ranges::max_element(run.samples, {}, &Sample::pool_calls)->pool_calls;
}

std::string line_of(const Scenario& scenario, const std::string& policy, int round, const RealRun& run) {
  const std::vector<std::int64_t> tenths = taken_per_tenth(run.record);
  const std::size_t half = tenths.size() / 2;
  double later = 0;
  for (std::size_t i = half; i < tenths.size(); ++i) later += static_cast<double>(tenths[i]);
  const std::int64_t taken = run.record.samples.back().taken;
  const nlohmann::ordered_json line = {
      {"case", scenario.id},
      {"variant", "ours_" + policy},  // not p...: those are tf.data's fixed settings
      {"elements", taken},
      {"wall_s", run.cost.wall_s},
      {"cpu_s", run.cost.cpu_s},
      {"foreign_cores", run.cost.foreign_cores},
      {"round", round},
      {"rate", static_cast<double>(taken) * 1e9 / static_cast<double>(scenario.duration)},
      {"rate_last_half", 10 * later / static_cast<double>(tenths.size() - half)},
      {"cpu_us_per_element", 1e6 * run.cost.cpu_s / static_cast<double>(std::max<std::int64_t>(taken, 1))},
      {"io_inflight_mean", run.mean_waiting_calls},
      {"io_inflight_peak", most_waiting(run.record)},
      {"mb_held_peak", 1e-6 * static_cast<double>(run.record.memory_peak)},
      {"per_100ms", tenths}};
  return line.dump();
}

std::vector<Scenario> chosen_cases(const std::vector<std::string>& ids) {
  const std::vector<Scenario> all = peer_cases();
  if (ids.empty()) return all;
  std::vector<Scenario> some;
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(all, id, &Scenario::id);
    if (found == all.end()) throw std::invalid_argument("there is no such case among the peers': " + id);
    some.push_back(*found);
  }
  return some;
}

}  // namespace

std::vector<Scenario> peer_cases() {
  return {peer_case("S01", {waiting(varying(10)), computing(1)}),
          remote(),
          peer_case("S02b", {waiting(Distribution::constant(10 * kMs))}),
          device(),
          latency_step(),
          large(),
          peer_case("S14", {waiting(heavy_tail()), computing(1)}),
          convoy()};
}

void run_peer_cases(const std::vector<std::string>& ids, const RealSettings& settings,
                    const std::function<void(const std::string&)>& report) {
  for (int round = 0; round < settings.rounds; ++round) {
    for (const Scenario& whole : chosen_cases(ids)) {
      const Scenario scenario =
          settings.seconds > 0 ? with_phases_at_most(whole, static_cast<Time>(settings.seconds * 1e9)) : whole;
      for (const std::string& policy : settings.policies) {
        report(line_of(scenario, policy, round,
                       run_real(
                           scenario, [&] { return autotune::make_policy(policy); }, settings.pictures)));
      }
    }
  }
}

}  // namespace penstock::exam
