// 64 calls at once of 10 ms each that do nothing but wait, against 64 plain threads in the same run.
//
//   plain   64 threads take numbers from a counter and sleep
//   p64     map(sleep, 64, {.blocks = true}): rate as a share of the plain threads' beside it
//   auto    map(sleep), no hint: the engine has to find out that it blocks, and how many calls are
//           worth it. Rate of the second half of the first second as a share of the plain rate.
#include <array>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/sleeping.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kSleepElements = 6400;  // a second's worth
constexpr auto kSleepCall = std::chrono::milliseconds(10);

std::int64_t sleep_through(std::int64_t value) {
  std::this_thread::sleep_for(kSleepCall);
  return value;
}

Cost plain_threads() { return sleep_on_plain_threads(kSleepElements, kSleepCall); }

Cost with_hint() {
  return drain(range(kSleepElements).map(sleep_through, kSleepers, {.blocks = true}), kSleepElements);
}

// Elements delivered in each tenth of the first second.
struct FirstSecond {
  std::array<double, 10> tenths{};
  Cost cost;

  double rate(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += tenths[i];
    return 10 * sum / static_cast<double>(to - from);
  }
  // The end of the first tenth that reaches `rate`; more than a second if none does.
  double seconds_until(double rate_wanted) const {
    for (std::size_t i = 0; i < tenths.size(); ++i) {
      if (rate(i, i + 1) >= rate_wanted) return 0.1 * static_cast<double>(i + 1);
    }
    return 1.1;
  }
};

FirstSecond without_hint() {
  FirstSecond second;
  const Meter meter;
  auto run = range(1'000'000).map(sleep_through).start();
  const std::int64_t start = now_ns();
  for (std::size_t tenth = 0; tenth < second.tenths.size();) {
    run.next();
    tenth = static_cast<std::size_t>((now_ns() - start) / 100'000'000);
    if (tenth < second.tenths.size()) second.tenths[tenth] += 1;
  }
  second.cost = meter.stop();
  return second;
}

struct Rounds {
  std::vector<double> plain_rate, hinted_ratio, half_ratio, second_ratio, t90;
  Cost plain, hinted, automatic;
};

void one_round(Rounds& rounds) {
  const Cost before = plain_threads();
  const Cost hinted = with_hint();
  const FirstSecond second = without_hint();
  const Cost after = plain_threads();
  const double rate = 2 * kSleepElements / (before.wall_s + after.wall_s);
  rounds.plain_rate.push_back(rate);
  rounds.hinted_ratio.push_back(kSleepElements / hinted.wall_s / rate);
  rounds.half_ratio.push_back(second.rate(5, 10) / rate);
  rounds.second_ratio.push_back(second.rate(0, 10) / rate);
  rounds.t90.push_back(second.seconds_until(0.9 * rate));
  keep_cheaper(rounds.plain, before);
  keep_cheaper(rounds.hinted, hinted);
  keep_cheaper(rounds.automatic, second.cost);
}

std::pair<std::string, double> cpu_each(const Cost& cost, std::int64_t elements) {
  return {"cpu_us_per_element", 1e6 * cost.cpu_s / static_cast<double>(elements)};
}

}  // namespace

void run_sleep64(const CaseSettings& settings, Report& report) {
  Rounds rounds;
  for (int round = 0; round < settings.rounds_or(5); ++round) one_round(rounds);
  const Spread plain = spread_of(rounds.plain_rate), hinted = spread_of(rounds.hinted_ratio);
  const Spread half = spread_of(rounds.half_ratio);
  report.add({"sleep64",
              "plain",
              kSleepElements,
              rounds.plain,
              {{"rate", plain.median}, cpu_each(rounds.plain, kSleepElements)},
              {}});
  report.add({"sleep64",
              "p64",
              kSleepElements,
              rounds.hinted,
              {{"rate", hinted.median * plain.median},
               {"ratio_to_plain", hinted.median},
               {"ratio_low", hinted.low},
               {"ratio_high", hinted.high},
               cpu_each(rounds.hinted, kSleepElements)},
              {{"ratio_to_plain", 0.98, false}}});
  const auto taken = static_cast<std::int64_t>(spread_of(rounds.second_ratio).median * plain.median);
  report.add({"sleep64",
              "auto",
              taken,
              rounds.automatic,
              {{"rate_last_half", half.median * plain.median},
               {"last_half_ratio_to_plain", half.median},
               {"ratio_low", half.low},
               {"ratio_high", half.high},
               {"t90_s", spread_of(rounds.t90).median}},
              {{"last_half_ratio_to_plain", 0.90, false}}});
}

}  // namespace penstock::bench
