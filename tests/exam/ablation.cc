#include "tests/exam/ablation.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tests/exam/oracle_settings.h"

namespace penstock::exam {
namespace {

constexpr double kHelps = 1.05;
constexpr double kHelpsAsMuch = 0.7;  // of the best one's gain
constexpr Time kLook = 8 * kSecond;

void double_cpu(ProcessSpec& world) {
  world.host.cores *= 2;
  for (auto& step : world.host.quota.steps) step.value *= 2;
}

void double_consumer(ProcessSpec& world) {
  for (ConsumerPhase& phase : world.chains.front().consumer) phase.cpu /= 2, phase.cpu_each /= 2, phase.idle /= 2;
}

void double_memory(ProcessSpec& world) { world.chains.front().memory *= 2; }

// As if there were two of it.
void double_stage(ProcessSpec& world, std::size_t index) {
  StageSpec& stage = world.chains.front().stages[index];
  if (stage.device >= 0) {
    DeviceSpec& device = world.chains.front().devices[static_cast<std::size_t>(stage.device)];
    device.slots *= 2;
    for (double& rate : device.rates) rate *= 2;
  }
  stage.cycle_length *= 2;
  if (stage.serial) stage.blocked = stage.blocked.times(0.5), stage.cpu = stage.cpu.times(0.5);
  if (stage.form != StageSpec::Form::computes) world.chains.front().open_io *= 2;
}

// With more of a resource other knobs are the best: more of everything.
double best_rate(const ProcessSpec& world, const Settings& settings) {
  double best = 0;
  for (const std::int64_t times : {1, 2, 4}) {
    Settings more = settings;
    for (Setting& each : more) {
      if (each.knob == "parallelism" || each.knob == "window" || each.knob == "prefetch") each.value *= times;
      if (each.knob == "cpu_slots") each.value = 4096;
    }
    best = std::max(best, measure(world, more, kLook, 1).rate);
  }
  return best;
}

}  // namespace

std::vector<Resource> bottlenecks(const ProcessSpec& frozen, const Optimum& optimum) {
  using Kind = Resource::Kind;
  std::vector<std::pair<double, Resource>> gains;
  const double now = best_rate(frozen, optimum.settings);
  const auto try_out = [&](Resource resource, auto&& twice) {
    ProcessSpec world = frozen;
    twice(world);
    gains.emplace_back(best_rate(world, optimum.settings) / now, resource);
  };
  try_out({Kind::cpu, -1}, double_cpu);
  try_out({Kind::consumer, -1}, double_consumer);
  try_out({Kind::memory, -1}, double_memory);
  for (std::size_t i = 0; i < frozen.chains.front().stages.size(); ++i) {
    const StageSpec& stage = frozen.chains.front().stages[i];
    if (stage.role != StageSpec::Role::calls && !is_nest(stage)) continue;
    if (stage.form == StageSpec::Form::computes && !stage.serial && stage.device < 0) continue;
    try_out({Kind::stage, static_cast<int>(i) + 1}, [i](ProcessSpec& world) { double_stage(world, i); });
  }
  std::ranges::stable_sort(gains, std::greater(), [](const auto& each) { return each.first; });
  std::vector<Resource> found;
  for (const auto& [gain, resource] : gains) {
    if (gain >= kHelps && gain - 1 >= kHelpsAsMuch * (gains.front().first - 1)) found.push_back(resource);
  }
  return found;
}

std::string text_of(const std::vector<Resource>& resources) {
  static constexpr const char* kNames[] = {"cpu", "consumer", "memory", "stage"};
  std::string text;
  for (const Resource& each : resources) {
    text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<int>(each.kind)]);
    if (each.stage >= 0) text += " " + std::to_string(each.stage);
  }
  return text;
}

}  // namespace penstock::exam
