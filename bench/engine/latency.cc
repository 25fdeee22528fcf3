// How late what is done reaches a consumer that waits for it, and how long a run takes to end, while calls of 1 us
// become calls of 50 ms and back: the engine groups calls by what they took, and has to find out that they do no
// longer.
#include <penstock/random.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/spin.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kLatencyElements = 10'000;
constexpr double kLatencyBar = 10;  // ms on top of one call
constexpr double kEndBar = 20;      // the same, for the end of a run

struct Stretch {
  std::int64_t call_ns;
  std::int64_t calls;
};
constexpr Stretch kStretches[] = {{1'000, 500},     {10'000, 500},    {100'000, 500},
                                  {1'000'000, 100}, {10'000'000, 10}, {50'000'000, 2}};

// How long the call of each element takes: stretches of equal calls, in an order drawn from the seed.
std::vector<std::int64_t> changing_calls(std::int64_t elements, std::uint64_t seed) {
  std::vector<std::int64_t> times;
  for (std::uint64_t i = 0; static_cast<std::int64_t>(times.size()) < elements; ++i) {
    const Stretch& stretch = kStretches[mix64(seed + i) % std::size(kStretches)];
    times.insert(times.end(), static_cast<std::size_t>(stretch.calls), stretch.call_ns);
  }
  times.resize(static_cast<std::size_t>(elements));
  return times;
}

// When each call began and ended, for whoever looks at it when all have.
class Calls {
 public:
  explicit Calls(std::vector<std::int64_t> times)
      : times_(std::move(times)), begun_(times_.size()), ended_(times_.size()) {}

  std::int64_t count() const { return static_cast<std::int64_t>(times_.size()); }
  std::int64_t operator()(std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    begun_[i] = now_ns();
    spin(times_[i]);
    ended_[i] = now_ns();
    return number;
  }

  // When each element could have left: it and all before it were done.
  std::vector<std::int64_t> ready() const {
    std::vector<std::int64_t> ready = ended_;
    for (std::size_t i = 1; i < ready.size(); ++i) ready[i] = std::max(ready[i], ready[i - 1]);
    return ready;
  }
  // Of the calls that were under way at some time between the two. `near`: an element that was under way not long
  // before.
  std::int64_t longest_between(std::int64_t from_ns, std::int64_t to_ns, std::size_t near) const {
    constexpr std::size_t kAround = 5'000;  // more than are ever under way or done at once
    std::int64_t longest = 0;
    for (std::size_t i = near - std::min(near, kAround); i < std::min(near + kAround, times_.size()); ++i) {
      if (begun_[i] > 0 && begun_[i] <= to_ns && ended_[i] >= from_ns) longest = std::max(longest, times_[i]);
    }
    return longest;
  }

 private:
  std::vector<std::int64_t> times_, begun_, ended_;
};

double ms(std::int64_t ns) { return 1e-6 * static_cast<double>(std::max<std::int64_t>(ns, 0)); }

struct Lateness {
  void add(std::int64_t late_ns, std::int64_t call_ns) {
    all.push_back(ms(late_ns));
    beyond_a_call.push_back(ms(late_ns - call_ns));
  }

  std::vector<double> all, beyond_a_call;  // ms
  Cost cost;
};

// Of each element that comes: how long after it could have left, and what of that is beyond the longest call of that
// time. Of `one_of` elements one is kept. The consumer takes each as soon as it can.
Lateness lateness(Calls calls, std::int64_t one_of, const RunOptions& options) {
  const auto work = [&calls](std::int64_t number) { return calls(number); };
  const auto keep = [one_of](std::int64_t number) { return number % one_of == one_of - 1; };
  const auto all = range(calls.count()).map(work);
  Lateness result;
  std::vector<std::pair<std::size_t, std::int64_t>> taken;
  const Meter meter;
  {
    auto run = (one_of == 1 ? all : all.filter(keep)).start(options);
    while (const auto number = run.next()) taken.emplace_back(static_cast<std::size_t>(*number), now_ns());
  }
  result.cost = meter.stop();
  const auto ready = calls.ready();
  for (const auto& [number, at_ns] : taken)
    result.add(at_ns - ready[number], calls.longest_between(ready[number], at_ns, number));
  return result;
}

// The same of the end of a run that is begun when so many elements have come.
void end(Calls calls, std::int64_t taken, const RunOptions& options, Lateness& result) {
  const auto work = [&calls](std::int64_t number) { return calls(number); };
  std::optional run = range(calls.count()).map(work).start(options);
  for (std::int64_t i = 0; i < taken; ++i) run->next();
  const std::int64_t asked_ns = now_ns();
  run.reset();
  result.add(now_ns() - asked_ns, calls.longest_between(asked_ns, asked_ns, static_cast<std::size_t>(taken)));
}

void add(const std::string& variant, Lateness late, double bar, Report& report) {
  std::ranges::sort(late.all);
  std::ranges::sort(late.beyond_a_call);
  const auto at = [](const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  report.add({"latency",
              variant,
              static_cast<std::int64_t>(late.all.size()),
              late.cost,
              {{"late_ms", at(late.all, 0.5)},
               {"beyond_a_call_ms", at(late.beyond_a_call, 0.5)},
               {"beyond_a_call_p99_ms", at(late.beyond_a_call, 0.99)},
               {"beyond_a_call_worst_ms", at(late.beyond_a_call, 1)}},
              {{"beyond_a_call_ms", bar}, {"beyond_a_call_worst_ms", bar}}});
}

}  // namespace

void run_latency(const CaseSettings& settings, Report& report) {
  for (int round = 0; round < settings.rounds_or(1); ++round) {
    const auto seed = static_cast<std::uint64_t>(round);
    for (const bool tune : {true, false}) {
      const std::string how = tune ? "autotune" : "autotune_off";
      for (const std::int64_t one_of : {1, 20}) {
        const auto late = lateness(Calls(changing_calls(kLatencyElements * one_of, seed)), one_of, {.tune = tune});
        add((one_of == 1 ? "all_" : "one_of_20_") + how, late, kLatencyBar, report);
      }
      Lateness ends;
      const auto times = changing_calls(kLatencyElements, seed);
      const Meter meter;
      for (std::int64_t taken = 1; taken < 1'000; taken += 20) end(Calls(times), taken, {.tune = tune}, ends);
      ends.cost = meter.stop();
      add("end_" + how, ends, kEndBar, report);
    }
  }
}

}  // namespace penstock::bench
