// What the instruments of a running pipeline cost, as CPU time with them over CPU time without, in turns of 0.2 s.
//
//   statistics   for the controller and explain(): times of calls added up and counted by length, CPU clocks of
//                samples. Counters and the clocks by which the engine groups elements stay
//   trace        every call remembered for RunOptions::trace, with statistics on both sides; the file is written after
//                the run
//
// Neither side has a controller, whose looks are the case `controller`. Two maps of 1 us, whose elements are grouped;
// of 20 us, which are calls of their own; and of 1 ms, as long as a small picture takes.
#include <cmath>
#include <memory>

#include "bench/engine/arithmetic.h"
#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/turns.h"
#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/runtime/runtime.h"

namespace penstock::bench {
namespace {

struct Instruments {
  bool statistics = true, trace = false;
};

Dataset<std::uint64_t> two_maps(double microseconds, std::int64_t elements) {
  const auto work = [steps = std::llround(microseconds * steps_per_microsecond())](std::uint64_t x) {
    return burn(x, steps);
  };
  return range(elements).map([](std::int64_t x) { return static_cast<std::uint64_t>(x); }).map(work).map(work);
}

exec::EngineSettings settings_with(const Instruments& instruments) {
  runtime::Runtime& runtime = runtime::Runtime::get();
  exec::EngineSettings settings;
  settings.epochs = 1;
  settings.memory_bytes = std::int64_t{1} << 30;
  settings.permits = runtime.permits_for(0);
  settings.gate = &runtime.gate();
  settings.statistics = instruments.statistics;
  if (instruments.trace) settings.trace = std::make_shared<exec::Trace>();
  return settings;
}

// Without a controller: nothing moves meanwhile.
Cost measure(const Dataset<std::uint64_t>& dataset, std::int64_t elements, const Instruments& instruments) {
  const auto settings = settings_with(instruments);
  const Meter meter;
  const auto engine = exec::Engine::make(exec::compile(dataset.node()), settings,
                                         runtime::Runtime::get().make_launcher(settings.permits));
  std::int64_t count = -1;  // with the mark of the end
  for (Slot slot; slot.kind() != Slot::Kind::pass_end; ++count) engine->next(slot);
  engine->shut_down();
  if (count != elements)
    throw std::runtime_error("instruments: expected " + std::to_string(elements) + " elements, got " +
                             std::to_string(count));
  return meter.stop();
}

Row compare(const std::string& variant, double microseconds, int rounds, const Instruments& with,
            const Instruments& without) {
  const std::int64_t elements = std::llround(0.2e6 / (2 * microseconds));
  const auto dataset = two_maps(microseconds, elements);
  const auto [best, overhead, noise] = take_turns(
      rounds, [&] { return measure(dataset, elements, with); }, [&] { return measure(dataset, elements, without); });
  return {"instruments",
          variant,
          elements,
          best,
          {{"overhead_percent", overhead.median},
           {"overhead_low", overhead.low},
           {"overhead_high", overhead.high},
           {"noise_low", noise.low},
           {"noise_high", noise.high},
           {"rounds", static_cast<double>(rounds)}},
          {}};
}

}  // namespace

void run_instruments(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(31);
  for (const double microseconds : {1.0, 20.0, 1000.0}) {
    const std::string suffix = "_" + std::to_string(std::lround(microseconds)) + "us";
    Row statistics = compare("statistics" + suffix, microseconds, rounds, {.statistics = true}, {.statistics = false});
    statistics.bars = {{"overhead_percent", 1}};
    report.add(statistics);
    Row trace = compare("trace" + suffix, microseconds, rounds, {.trace = true}, {.trace = false});
    trace.bars = {{"overhead_percent", 2}};
    report.add(trace);
  }
}

}  // namespace penstock::bench
