#include "tests/exam/real/real_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "tests/exam/real/real_pipeline.h"
#include "tests/exam/real/real_consumer.h"
#include "tests/exam/real/recorder.h"

namespace penstock::exam {
namespace {

std::int64_t bound_of(const Snapshot& now, const RealWorld& world) {
  std::int64_t required = 0;
  for (const StageSnapshot& stage : now.stages) required += stage.bytes_required;
  return std::max(now.memory_limit, required) + world.one_element_of_each_stage();
}

// Over the whole run, by the engine's own counts.
double mean_waiting_calls(const Snapshot& now) {
  double sum = 0;
  for (const StageSnapshot& stage : now.stages) sum += stage.on_pool ? static_cast<double>(stage.slot_ns) : 0;
  return sum / static_cast<double>(std::max<std::int64_t>(now.time_ns, 1));
}

}  // namespace

RealRun run_real(const Scenario& scenario, const runtime::PolicyMaker& make_policy, const std::string& pictures) {
  const ChainSpec& chain = scenario.process.chains.front();
  const auto world = std::make_shared<RealWorld>(chain);
  const auto run = runtime::start_run(real_pipeline_of(chain, world, pictures), run_options_of(chain), make_policy);
  RealConsumer consumer(chain.consumer, *world);
  const bench::Meter meter;
  world->begin();
  Recorder recorder(*run, *world);
  consumer.consume(*run, scenario.duration);
  RealRun result;
  result.record.samples = recorder.stop();
  result.cost = meter.stop();
  result.foreign_cpu =
      (result.cost.foreign_cores + result.cost.stolen_cores) / std::max(1U, std::thread::hardware_concurrency());
  result.record.steps = consumer.steps();
  result.decisions = run->decisions();
  const Snapshot at_end = run->snapshot();
  result.mean_waiting_calls = mean_waiting_calls(at_end);
  result.record.memory_peak = at_end.memory_peak;
  result.record.memory_bound = bound_of(at_end, *world);
  result.record.open_io = chain.open_io;
  return result;
}

double step_alone_ns(const Scenario& scenario) {
  const ChainSpec& chain = scenario.process.chains.front();
  RealWorld world(chain);
  RealConsumer consumer({chain.consumer.back()}, world);
  world.begin();
  consumer.consume_alone(kSecond);
  return p95_of(consumer.steps());
}

}  // namespace penstock::exam
