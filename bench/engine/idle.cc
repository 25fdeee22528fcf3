// What threads cost that have nothing to do: a consumer that is slow, and memory that is short. As many threads as are
// asked for, whatever the machine has; figures at 128 are compared with those at 2, in one process.
#include <sys/resource.h>

#include <atomic>
#include <string>
#include <thread>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr int kThreads[] = {2, 16, 64, 128};
constexpr std::int64_t kIdleCall = 100'000;  // ns of CPU time

void burn_cpu(std::int64_t ns) {
  const std::int64_t until = thread_cpu_ns() + ns;
  while (thread_cpu_ns() < until) {
  }
}

// Voluntary ones, of all threads: each is a thread that fell asleep.
std::int64_t switches() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return use.ru_nvcsw;
}

struct PerStep {
  Cost cost;
  double cpu_us = 0;
  double switches = 0;
};

// A batch of four calls each 5 ms. Calls beyond those four, which read ahead, are not counted.
PerStep slow_consumer(int threads, int steps) {
  constexpr int kBatch = 4;
  std::atomic<std::int64_t> calls{0};
  const auto work = [&calls](std::int64_t value) {
    burn_cpu(kIdleCall);
    ++calls;
    return value;
  };
  auto run =
      range(std::int64_t{1} << 40).map(work).batch(kBatch).prefetch(2).start({.threads = threads, .tune = false});
  const auto step = [&run] {
    run.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  for (int i = 0; i < 20; ++i) step();
  const std::int64_t calls_before = calls, switches_before = switches();
  const Meter meter;
  for (int i = 0; i < steps; ++i) step();
  PerStep result{.cost = meter.stop()};
  const auto ahead = static_cast<double>(calls - calls_before) - static_cast<double>(steps * kBatch);
  result.cpu_us = (1e6 * result.cost.cpu_s - 1e-3 * kIdleCall * ahead) / steps;
  result.switches = static_cast<double>(switches() - switches_before) / steps;
  return result;
}

constexpr std::size_t kEach = std::size_t{1} << 20;

// So large by the books alone: what page faults cost is not the engine's.
struct Large {};
std::size_t bytes_of(const Large&) { return kEach; }

// 16 results have room, and more calls than that are allowed.
PerStep short_memory(int calls, bool blocks, int elements) {
  const auto make = [blocks](std::int64_t) {
    if (blocks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      burn_cpu(2 * kIdleCall);
    }
    return Large();
  };
  const auto hint = [](std::int64_t) { return kEach; };
  const RunOptions options{.threads = blocks ? 2 : calls, .memory_bytes = 16 * kEach, .tune = false};
  const std::int64_t switches_before = switches();
  PerStep result{
      .cost = drain(range(elements).map(make, calls, {.blocks = blocks, .bytes_hint = hint}), elements, options)};
  result.cpu_us = 1e6 * result.cost.cpu_s / elements;
  result.switches = static_cast<double>(switches() - switches_before) / elements;
  return result;
}

template <class Measure> void compare(const std::string& name, std::int64_t steps, Report& report, Measure measure) {
  double at_two = 0;
  for (const int threads : kThreads) {
    const PerStep step = measure(threads);
    if (at_two == 0) at_two = step.cpu_us;
    report.add({name,
                std::to_string(threads) + "_threads",
                steps,
                step.cost,
                {{"cpu_us", step.cpu_us}, {"switches", step.switches}, {"cpu_beside_2_threads", step.cpu_us / at_two}},
                {{"cpu_beside_2_threads", 1.2}}});
  }
}

}  // namespace

void run_idle(const CaseSettings& settings, Report& report) {
  const int steps = 100 * settings.rounds_or(3);
  compare("idle", steps, report, [steps](int threads) { return slow_consumer(threads, steps); });
}

void run_pressure(const CaseSettings& settings, Report& report) {
  const int elements = 500 * settings.rounds_or(3);
  compare("pressure_computing", elements, report,
          [elements](int calls) { return short_memory(calls, false, elements); });
  compare("pressure_blocking", elements, report, [elements](int calls) { return short_memory(calls, true, elements); });
}

}  // namespace penstock::bench
