// How fast AUTOTUNE finds the calls that a map needs which only waits, and gives them back.
//
//   start   calls of 10 ms, and a consumer that never pauses: until 0.1 s have 95 % of the rate of 64 plain threads
//           beside them
//   step    500 elements a second are wanted, and calls take 10 ms, then 80 ms, then 10 ms again: until a second has 95
//           % of the rate before, after the first step; until a quarter more calls than before at most are allowed,
//           after the second
#include <penstock/penstock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/sleeping.h"

namespace penstock::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr double kReached = 0.95;
constexpr double kNever = 1'000;  // seconds, of what has not been reached
constexpr auto kAdaptCall = 10ms, kSlowCall = 80ms;
constexpr auto kPause = 2ms;  // of the consumer: 500 elements a second
constexpr auto kCalm = 4s, kSlow = 4s, kAdaptAfter = 11s;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// When elements came, in seconds, and how many calls were allowed then.
struct Arrivals {
  std::vector<double> times;
  std::vector<std::int64_t> slots;

  double rate(double from, double length) const {
    const auto first = std::ranges::lower_bound(times, from);
    return static_cast<double>(std::ranges::lower_bound(times, from + length) - first) / length;
  }
  // Seconds from `from` on until `length` of them begin that have this rate; at most to `end`.
  double until_rate(double wanted, double from, double length, double end) const {
    for (double time = from; time + length <= end; time += 0.01) {
      if (rate(time, length) >= wanted) return time - from;
    }
    return kNever;
  }
  // Allowed at that moment; one element at least has come before.
  std::int64_t slots_at(double time) const {
    const auto place = std::ranges::upper_bound(times, time) - times.begin();
    return slots[static_cast<std::size_t>(std::max<std::ptrdiff_t>(place - 1, 0))];
  }
  // Seconds from `from` on until no more than that are allowed.
  double until_slots(double most, double from) const {
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] >= from && static_cast<double>(slots[i]) <= most) return times[i] - from;
    }
    return kNever;
  }
};

// Takes elements for that long, and lets `between` run after each.
Arrivals take_for(Run<std::int64_t>& run, Clock::duration time, const std::function<void(Clock::duration)>& between) {
  Arrivals arrivals;
  const auto start = Clock::now();
  for (auto now = start; now - start < time; now = Clock::now()) {
    run.next();
    arrivals.times.push_back(seconds(Clock::now() - start));
    arrivals.slots.push_back(run.snapshot().stages.back().parallelism);
    between(Clock::now() - start);
  }
  return arrivals;
}

Dataset<std::int64_t> sleeping(const std::atomic<std::chrono::milliseconds>& call) {
  const auto sleep = [&call](std::int64_t value) {
    std::this_thread::sleep_for(call.load());
    return value;
  };
  return range(1'000'000'000).map(sleep, AUTOTUNE, {.blocks = true});
}

struct Start {
  double plain_rate = 0;
  double reached_s = 0;  // the end of the first 0.1 s that has 95 % of the plain threads' rate
  double later = 0;      // the last second's rate as a share of theirs
  std::int64_t elements = 0;
};

Start start_once(Cost& cost) {
  constexpr std::int64_t kSleeps = 3'200;
  constexpr double kWindow = 0.1;
  const double before = sleep_on_plain_threads(kSleeps, kAdaptCall).wall_s;
  const std::atomic<std::chrono::milliseconds> call = kAdaptCall;
  const Meter meter;
  Arrivals arrivals;
  {
    auto run = sleeping(call).start();
    arrivals = take_for(run, 1'500ms, [](Clock::duration) {});
  }
  cost = meter.stop();
  const double plain = 2 * kSleeps / (before + sleep_on_plain_threads(kSleeps, kAdaptCall).wall_s);
  return {plain, kWindow + arrivals.until_rate(kReached * plain, 0, kWindow, 1.5), arrivals.rate(0.5, 1) / plain,
          static_cast<std::int64_t>(arrivals.times.size())};
}

void run_start(const CaseSettings& settings, Report& report) {
  std::vector<double> times, plain, later;
  Cost cost;
  std::int64_t elements = 0;
  for (int round = 0; round < settings.rounds_or(5); ++round) {
    const Start start = start_once(cost);
    times.push_back(start.reached_s);
    plain.push_back(start.plain_rate);
    later.push_back(start.later);
    elements = start.elements;
  }
  const Spread spread = spread_of(times);
  report.add({"adapt",
              "start",
              elements,
              cost,
              {{"reached_s", spread.median},
               {"low_s", spread.low},
               {"high_s", spread.high},
               {"plain_rate", spread_of(plain).median},
               {"ratio_from_half_a_second_on", spread_of(later).median}},
              {{"reached_s", 0.5}}});
}

// How long a call takes at that time of the run.
std::chrono::milliseconds call_at(Clock::duration time) {
  return time >= kCalm && time < kCalm + kSlow ? kSlowCall : kAdaptCall;
}

Arrivals take_through_steps() {
  std::atomic<std::chrono::milliseconds> call = kAdaptCall;
  auto run = sleeping(call).start();
  return take_for(run, kCalm + kSlow + kAdaptAfter, [&](Clock::duration now) {
    call = call_at(now);
    std::this_thread::sleep_for(kPause);
  });
}

void run_step(const CaseSettings& settings, Report& report) {
  const double first = seconds(kCalm), second = seconds(kCalm + kSlow);
  std::vector<double> absorbed, given_back, before, between, after;
  const Meter meter;
  std::int64_t elements = 0;
  for (int round = 0; round < settings.rounds_or(3); ++round) {
    const Arrivals arrivals = take_through_steps();
    elements += static_cast<std::int64_t>(arrivals.times.size());
    const double wanted = arrivals.rate(first - 2, 2);
    absorbed.push_back(arrivals.until_rate(kReached * wanted, first, 1, second));
    before.push_back(static_cast<double>(arrivals.slots_at(first)));
    between.push_back(static_cast<double>(arrivals.slots_at(second)));
    after.push_back(static_cast<double>(arrivals.slots_at(second + 10)));
    given_back.push_back(arrivals.until_slots(1.25 * before.back(), second));
  }
  const auto middle = [](const std::vector<double>& values) { return spread_of(values).median; };
  report.add({"adapt",
              "step",
              elements,
              meter.stop(),
              {{"absorbed_s", middle(absorbed)},
               {"absorbed_high_s", spread_of(absorbed).high},
               {"given_back_s", middle(given_back)},
               {"given_back_high_s", spread_of(given_back).high},
               {"slots_before", middle(before)},
               {"slots_between", middle(between)},
               {"slots_10s_after", middle(after)}},
              {{"absorbed_s", 1}, {"given_back_s", 10}}});
}

}  // namespace

void run_adapt(const CaseSettings& settings, Report& report) {
  run_start(settings, report);
  run_step(settings, report);
}

}  // namespace penstock::bench
