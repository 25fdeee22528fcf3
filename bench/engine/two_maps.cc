// Two ordered maps of known work against plain threads that do the same work on the same elements, in
// turns within one run: what the engine costs beside the work, in percent of CPU time.
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/engine/arithmetic.h"
#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/turns.h"

namespace penstock::bench {
namespace {

struct Work {
  std::int64_t elements;
  std::int64_t steps;   // per map
  std::uint64_t check;  // sum of all results

  std::uint64_t one_map(std::uint64_t value) const { return burn(value, steps); }
};

// The strong opponent: nothing but the arithmetic and one atomic addition per handful of elements.
void share_out(const Work& work, std::atomic<std::int64_t>& next, std::atomic<std::uint64_t>& sum) {
  constexpr std::int64_t handful = 16;
  std::uint64_t own = 0;
  for (std::int64_t start; (start = next.fetch_add(handful)) < work.elements;) {
    const std::int64_t stop = std::min(start + handful, work.elements);
    for (std::int64_t i = start; i < stop; ++i) own += work.one_map(work.one_map(static_cast<std::uint64_t>(i)));
  }
  sum += own;
}

std::uint64_t plain_sum(const Work& work) {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::uint64_t> sum{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back([&] { share_out(work, next, sum); });
  }
  return sum;
}

std::uint64_t engine_sum(const Work& work) {
  auto step = [work](std::uint64_t value) { return work.one_map(value); };
  auto run = range(work.elements)
                 .map([work](std::int64_t i) { return work.one_map(static_cast<std::uint64_t>(i)); })
                 .map(step)
                 .start();
  std::uint64_t sum = 0;
  while (auto value = run.next()) sum += *value;
  return sum;
}

Cost measure(const Work& work, std::uint64_t (*sum)(const Work&)) {
  const Meter meter;
  const std::uint64_t result = sum(work);
  const Cost cost = meter.stop();
  if (result != work.check) throw std::runtime_error("two_maps: the results' sum is wrong");
  return cost;
}

// About 0.3 s of CPU time a turn: short against the moods of a machine, long against starting and ending a run (0.3
// ms).
Work work_of(double microseconds) {
  Work work{};
  work.steps = std::llround(microseconds * steps_per_microsecond());
  work.elements = std::llround(0.3e6 / (2 * microseconds));
  work.check = plain_sum(work);
  return work;
}

Row row_of(double microseconds, int rounds) {
  const Work work = work_of(microseconds);
  const auto [best, overhead, noise] = take_turns(
      rounds, [&] { return measure(work, engine_sum); }, [&] { return measure(work, plain_sum); });
  Row row;
  row.name = "two_maps";
  row.variant = std::to_string(std::lround(microseconds)) + "us";
  row.elements = work.elements;
  row.cost = best;
  row.figures = {{"overhead_percent", overhead.median},  {"overhead_low", overhead.low},
                 {"overhead_high", overhead.high},       {"plain_noise_low", noise.low},
                 {"plain_noise_high", noise.high},       {"overhead_ns_per_stage", overhead.median * 10 * microseconds},
                 {"rounds", static_cast<double>(rounds)}};
  return row;
}

}  // namespace

void run_two_maps(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(15);
  for (double microseconds : {1.0, 3.0, 10.0, 30.0, 60.0, 100.0, 300.0}) {
    Row row = row_of(microseconds, rounds);
    if (microseconds >= 60) row.bars = {{"overhead_percent", 1}};
    if (microseconds == 30) row.bars = {{"overhead_percent", 2}};
    report.add(row);
  }
}

}  // namespace penstock::bench
