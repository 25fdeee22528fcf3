// Dropping a run: with 64 calls under way, from outside and from inside one of them; and idle.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/sleeping.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;
using std::chrono::milliseconds;

double ms_since(Clock::time_point start) { return Milliseconds(Clock::now() - start).count(); }

std::int64_t threads_now() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

// Until all 64 calls are under way.
void wait_for(const CallCount& calls) {
  const auto start = Clock::now();
  while (calls.now() < kSleepers) {
    if (ms_since(start) > 10'000) throw std::runtime_error("abandon: 64 calls never ran at once");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

struct Observed {
  std::vector<double> ms;
  std::int64_t in_flight_before = 0, in_flight_after = 0, started_after = 0;
  std::int64_t threads_before = 0, threads_after = 0;
};

void drop_from_outside(milliseconds body, Observed& seen) {
  CallCount calls;
  std::optional<Run<std::int64_t>> run(range(std::int64_t{1} << 40)
                                           .map(
                                               [&calls, body](std::int64_t value) {
                                                 const CallCount::Scope scope(calls);
                                                 std::this_thread::sleep_for(body);
                                                 return value;
                                               },
                                               kSleepers, {.blocks = true})
                                           .prefetch(8)
                                           .start());
  run->next_for(milliseconds(0));
  wait_for(calls);
  seen.in_flight_before = calls.now();
  seen.threads_before = threads_now();
  const std::int64_t begun = calls.begun();
  const auto start = Clock::now();
  run.reset();
  seen.ms.push_back(ms_since(start));
  seen.in_flight_after = std::max(seen.in_flight_after, calls.now());
  seen.started_after = std::max(seen.started_after, calls.begun() - begun);
  seen.threads_after = threads_now();
}

// The run belongs to its own function, one call of which gives it up as it begins. What is measured
// ends when that call and all others have ended and nothing of the run is left.
void drop_from_inside(milliseconds body, Observed& seen) {
  struct Shared {
    CallCount calls;
    std::mutex mutex;
    std::optional<Run<std::int64_t>> run;
    Clock::time_point dropped;
  };
  auto shared = std::make_shared<Shared>();
  std::atomic<bool> drop{false};
  auto function = [shared, body, &drop](std::int64_t value) {
    const CallCount::Scope scope(shared->calls);
    if (drop.exchange(false)) {
      shared->dropped = Clock::now();
      std::lock_guard lock(shared->mutex);
      shared->run.reset();
    }
    std::this_thread::sleep_for(body);
    return value;
  };
  {
    std::lock_guard lock(shared->mutex);
    shared->run.emplace(range(std::int64_t{1} << 40).map(function, kSleepers, {.blocks = true}).prefetch(4096).start());
    shared->run->next_for(milliseconds(0));
  }
  wait_for(shared->calls);
  drop = true;
  while (shared.use_count() > 2) std::this_thread::sleep_for(std::chrono::microseconds(100));
  seen.ms.push_back(ms_since(shared->dropped));
}

Row row_of(const std::string& variant, milliseconds body, int repetitions, void (*drop)(milliseconds, Observed&)) {
  Observed seen;
  const Meter meter;
  for (int i = 0; i < repetitions; ++i) drop(body, seen);
  Row row;
  row.name = "abandon";
  row.variant = variant;
  row.elements = repetitions;
  row.cost = meter.stop();
  const Spread ms = spread_of(seen.ms);
  row.figures = {{"ms", ms.median}, {"worst_ms", ms.high}};
  row.bars = {{"worst_ms", 2.0 * static_cast<double>(body.count()) + 20}};
  if (drop != &drop_from_outside) return row;
  row.figures.insert(row.figures.end(), {{"inflight_before", static_cast<double>(seen.in_flight_before)},
                                         {"inflight_after", static_cast<double>(seen.in_flight_after)},
                                         {"started_after", static_cast<double>(seen.started_after)},
                                         {"threads_before", static_cast<double>(seen.threads_before)},
                                         {"threads_after", static_cast<double>(seen.threads_after)}});
  return row;
}

// Nothing under way: 20 idle runs of 2.7 s age, each dropped. As old as the peers', whose tuners have rounds of their
// own.
Row drop_idle(const char* variant, const Dataset<std::int64_t>& data, const RunOptions& options, int rounds) {
  std::vector<double> ms;
  const Meter meter;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Run<std::int64_t>> runs;
    for (int i = 0; i < 20; ++i) {
      runs.push_back(data.start(options));
      runs.back().next();
    }
    std::this_thread::sleep_for(milliseconds(2700));
    while (!runs.empty()) {
      const auto start = Clock::now();
      runs.pop_back();
      ms.push_back(ms_since(start));
    }
  }
  const Spread spread = spread_of(ms);
  const auto over = std::count_if(ms.begin(), ms.end(), [](double x) { return x > 100; });
  return {"drop_idle",
          variant,
          static_cast<std::int64_t>(ms.size()),
          meter.stop(),
          {{"ms_p50", spread.median}, {"ms_max", spread.high}, {"over_100ms", static_cast<double>(over)}},
          {}};
}

}  // namespace

// 500 times in all, unless told otherwise.
void run_abandon(const CaseSettings& settings, Report& report) {
  struct Plan {
    int body_ms, repetitions;
  };
  for (const Plan& plan : {Plan{5, 250}, Plan{20, 100}, Plan{50, 50}}) {
    const std::string variant = "map_" + std::to_string(plan.body_ms) + "ms";
    report.add(row_of(variant, milliseconds(plan.body_ms), settings.rounds_or(plan.repetitions), drop_from_outside));
  }
  report.add(row_of("inside_5ms", milliseconds(5), settings.rounds_or(70), drop_from_inside));
  report.add(row_of("inside_20ms", milliseconds(20), settings.rounds_or(30), drop_from_inside));
}

void run_drop_idle(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(1);
  const auto plus_one = [](std::int64_t x) { return x + 1; };
  const auto endless = range(std::int64_t{1} << 40);
  report.add(drop_idle("autotune", endless.map(plus_one).prefetch(2), {}, rounds));
  report.add(drop_idle("fixed", endless.map(plus_one, 2).prefetch(2), {}, rounds));
  report.add(drop_idle("autotune_off", endless.map(plus_one).prefetch(2), {.tune = false}, rounds));
}

}  // namespace penstock::bench
