#include "tests/exam/describe.h"

#include "lib/core/print.h"

namespace penstock::exam {
namespace {

std::string describe(const StageSpec& stage, int index) {
  if (stage.role != StageSpec::Role::calls && !is_nest(stage)) {
    std::string line = print("  %d %s", index, stage.name.c_str());
    for (const double share : stage.shares) line += print(" %g", share);
    return line + "\n";
  }
  const char* form = stage.serial                              ? "serial"
                     : stage.form == StageSpec::Form::blocks   ? "blocks"
                     : stage.form == StageSpec::Form::computes ? "computes"
                                                               : "form unknown";
  std::string line = print("  %d %s (%s): waits %.3g ms cv %.2f, computes %.3g ms cv %.2f, %.3g KB", index,
                           stage.name.c_str(), form, stage.blocked.mean * 1e-6, stage.blocked.cv, stage.cpu.mean * 1e-6,
                           stage.cpu.cv, stage.result_bytes * 1e-3);
  if (!stage.ordered) line += ", any order";
  if (stage.device >= 0) line += print(", device %d", stage.device);
  if (is_nest(stage)) {
    line += print(", %ld datasets of %.3g in turn", static_cast<long>(stage.cycle_length), stage.fan_out.mean);
  } else if (stage.fan_out.mean != 1) {
    line += print(", %.3g results each", stage.fan_out.mean);
  }
  if (stage.batch > 1) line += print(", batches of %ld", static_cast<long>(stage.batch));
  if (stage.own_threads > 0) line += print(", %d threads of its own", stage.own_threads);
  if (!stage.size.is_zero()) line += print(", size cv %.2f", stage.size.cv);
  return line + "\n";
}

}  // namespace

std::string describe(const ProcessSpec& process) {
  std::string all = print("%g cores\n", process.host.cores);
  for (const ChainSpec& chain : process.chains) {
    all += print(" run: %.4g MB, %ld open io, weight %.3g\n", static_cast<double>(chain.memory) * 1e-6,
                 static_cast<long>(chain.open_io), chain.weight);
    int index = 0;
    for (const StageSpec& stage : chain.stages) all += describe(stage, ++index);
    for (const DeviceSpec& device : chain.devices) all += print("  device: %d slots\n", device.slots);
    for (const ConsumerPhase& phase : chain.consumer) {
      all += print("  consumer: takes %ld, %.3g ms each, then computes %.3g ms, pauses %.3g ms\n",
                   static_cast<long>(phase.burst), phase.cpu_each * 1e-6, phase.cpu * 1e-6, phase.idle * 1e-6);
    }
  }
  return all;
}

std::string describe(const Decision& decision) {
  return print("%8.2f s  %s[%d] %ld -> %ld (%ld) %s\n", static_cast<double>(decision.time_ns) * 1e-9,
               decision.knob.c_str(), decision.stage, static_cast<long>(decision.from), static_cast<long>(decision.to),
               static_cast<long>(decision.wanted), name_of(decision.reason));
}

std::string describe(const Sample& sample, double rate) {
  return print("%8.2f s  %.0f/s, %ld calls, %ld wait, %.1f MB, depth %ld\n", static_cast<double>(sample.time) * 1e-9,
               rate, static_cast<long>(sample.calls), static_cast<long>(sample.pool_calls),
               static_cast<double>(sample.bytes) * 1e-6, static_cast<long>(sample.prefetch));
}

}  // namespace penstock::exam
