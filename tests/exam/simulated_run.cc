#include "tests/exam/simulated_run.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/compile.h"
#include "tests/exam/pipeline.h"
#include "tests/exam/simulated_world.h"

namespace penstock::exam {
namespace {

exec::EngineSettings settings_of(Host& host, exec::PermitGate& gate, const ChainSpec& spec, std::uint64_t seed) {
  exec::EngineSettings settings;
  settings.memory_bytes = spec.memory;
  settings.permits = gate.permits();
  settings.epochs = 1;
  settings.seed = seed;
  settings.gate = &gate;
  settings.has_priority = true;
  settings.niceness_is_reversible = host.spec().niceness_is_reversible;
  settings.machine = &host;
  settings.open_io = spec.open_io;
  settings.cpu_budget = host.cpus();
  return settings;
}

}  // namespace

SimulatedRun::SimulatedRun(const Shared& shared, const ChainSpec& spec, std::uint64_t seed)
    : host_(shared.host),
      spec_(spec),
      world_(std::make_shared<SimulatedWorld>(shared.host, spec, seed)),
      engine_(exec::Engine::make(exec::compile(pipeline_of(spec, world_)),
                                 settings_of(shared.host, shared.gate, spec, seed),
                                 std::make_unique<SimulatedLauncher>(shared.host, shared.compute, shared.pool))),
      knobs_(engine_->knobs()) {
  for (const Knob& knob : knobs_) values_.push_back(knob.get());
}

SimulatedRun::~SimulatedRun() = default;

Knob& SimulatedRun::knob(const std::string& name, int stage) {
  const auto found =
      std::ranges::find_if(knobs_, [&](const Knob& knob) { return knob.name == name && knob.stage == stage; });
  if (found == knobs_.end()) throw std::invalid_argument("no knob " + name + " of stage " + std::to_string(stage));
  return *found;
}

runtime::Attendant SimulatedRun::begin(runtime::AttendantHost& host) {
  observer_ = std::make_shared<runtime::Observer>(engine_->knobs(), runtime::Execution{.tuned = policy_ != nullptr});
  consumes_ = true;
  host_.spawn(Processor::consumers, [this] {
    try {
      consume();
    } catch (const Error&) {  // the run is over: stop()
    }
    consumes_ = false;
  });
  return {host, engine_, 0, std::move(policy_), observer_};
}

void SimulatedRun::stop() {
  is_over_ = true;
  engine_->give_up(std::make_exception_ptr(Error(ErrorCode::cancelled, "the exam is over")));
}

// ------------------------------------------------------------------------------------------------ the consumer

void SimulatedRun::consume() {
  while (!is_over_) {
    const ConsumerPhase& phase = phase_at(spec_.consumer, host_.time());
    const Time began = host_.time();
    Time waited = 0;
    for (std::int64_t i = 0; i < phase.burst; ++i) {
      const Time asked = host_.now();
      Slot slot;
      engine_->next(slot);
      waited += host_.now() - asked;
      ++taken_;
      host_.compute(phase.cpu_each);
    }
    host_.compute(phase.cpu);
    host_.sleep(phase.idle);
    if (phase.idle + phase.cpu > 0) steps_.push_back({host_.time(), host_.time() - began - waited});
  }
}

// ------------------------------------------------------------------------------------------------ what is seen

void SimulatedRun::look(double cpu_ns) {
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const std::int64_t value = knobs_[i].get();
    changes_ += std::exchange(values_[i], value) != value;
  }
  const Snapshot now = snapshot();
  samples_.push_back({.time = host_.time(),
                      .taken = taken_,
                      .calls = world_->calls.take_most(),
                      .pool_calls = world_->waiting_calls.take_most(),
                      .bytes = now.memory_used,
                      .prefetch = now.consumer.prefetch,
                      .cpu_ns = cpu_ns,
                      .changes = changes_});
  if (host_.time() % kSecond == 0) measure(now);
}

void SimulatedRun::measure(const Snapshot& now) {
  Measured measured{.time = host_.time(), .cpu_ns = {}, .elements = {}};
  for (const StageSnapshot& stage : now.stages) {
    measured.cpu_ns.push_back(stage.sampled_cpu_ns);
    measured.elements.push_back(stage.sampled_elements);
  }
  measured_.push_back(std::move(measured));
}

RunRecord SimulatedRun::record() const {
  const Snapshot now = snapshot();
  std::int64_t required = 0;
  for (const StageSnapshot& stage : now.stages) required += stage.bytes_required;
  RunRecord record;
  record.samples = samples_;
  record.steps = steps_;
  record.measured = measured_;
  record.memory_peak = now.memory_peak;
  record.memory_bound = std::max(spec_.memory, required) + world_->one_element_of_each_stage();
  record.open_io = spec_.open_io;
  return record;
}

}  // namespace penstock::exam
