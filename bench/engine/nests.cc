// What interleave costs, and holds: many datasets of one element, few of many, and datasets that wait.
//
//   opening            interleave over 1,000,000 datasets of one element, CPU and wall time each, beside what building
//                      their nodes takes by itself, and what reading them without an engine takes beyond that
//   memory             resident memory at its highest while 1,000,000 such datasets pass, beyond that of 1,000
//   turns, turns_1     16 ranges, an element of each in turn, through batch(1000), on two threads and on one
//   sleep64            64 datasets whose elements take 10 ms each: the rate as a share of 6,400/s
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/meter.h"
#include "lib/core/clock.h"
#include "lib/exec/inner_dataset.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kInners = 1'000'000;
constexpr std::int64_t kOfARange = 500'000;  // of 16 ranges
constexpr std::int64_t kRanges = 16;

Dataset<std::int64_t> many_of_one(std::int64_t inners) {
  return range(inners).interleave([](std::int64_t x) { return range(x, x + 1).map([](std::int64_t y) { return y; }); });
}

// CPU time of making so many datasets of one element, and of doing `with` each.
template <class With> double ns_each(std::int64_t inners, With&& with) {
  const std::int64_t start = process_cpu_ns();
  for (std::int64_t i = 0; i < inners; ++i) with(range(i, i + 1).map([](std::int64_t y) { return y; }).node());
  return static_cast<double>(process_cpu_ns() - start) / static_cast<double>(inners);
}

// Opened and read to its end, without an engine.
void read_through(const graph::NodeRef& node) {
  Context context({}, 1);
  exec::Slots slots;
  exec::InnerDataset dataset(node, Stamp(), 1, 1);
  while (dataset.pull(slots, 16, context, {})) {
  }
  if (slots.size() != 1) throw std::runtime_error("a dataset of one element gave another number");
}

void add_opening(int rounds, Report& report) {
  const Cost cost = cheapest_drain(many_of_one(kInners), kInners, rounds);
  const double ns = ns_per(cost.cpu_s, kInners);
  const double built = ns_each(kInners, [](const graph::NodeRef&) {}), read = ns_each(kInners, read_through);
  report.add({"nests",
              "opening",
              kInners,
              cost,
              {{"cpu_ns_each", ns},
               {"wall_ns_each", ns_per(cost.wall_s, kInners)},
               {"building_ns", built},
               {"reading_beyond_building_ns", read - built}},
              {{"cpu_ns_each", 3000}, {"reading_beyond_building_ns", 1000}}});
}

std::size_t highest_rss(std::int64_t inners) {
  std::size_t highest = 0;
  auto run = many_of_one(inners).start();
  for (std::int64_t i = 0; run.next(); ++i) {
    if (i % 50'000 == 0) highest = std::max(highest, rss_bytes());
  }
  return std::max(highest, rss_bytes());
}

void add_memory(Report& report) {
  const std::size_t few = highest_rss(1'000), many = highest_rss(kInners);
  const double beyond = (static_cast<double>(many) - static_cast<double>(few)) / MiB;
  report.add({"nests", "memory", kInners, {}, {{"mib_beyond_1000", beyond}}, {{"mib_beyond_1000", 8}}});
}

void add_turns(const char* variant, int threads, int rounds, Report& report) {
  const auto dataset =
      range(kRanges).interleave([](std::int64_t) { return range(kOfARange); }, {.cycle_length = kRanges}).batch(1000);
  Cost best;
  for (int round = 0; round < rounds; ++round)
    keep_cheaper(best, drain(dataset, kRanges * kOfARange / 1000, {.threads = threads}));
  report.add({"nests",
              variant,
              kRanges * kOfARange,
              best,
              {{"cpu_ns_per_element", ns_per(best.cpu_s, kRanges * kOfARange)},
               {"wall_ns_per_element", ns_per(best.wall_s, kRanges * kOfARange)}},
              {{"wall_ns_per_element", 150}}});
}

// Elements in the second and the third second: AUTOTUNE finds out in the first that calls wait, and how many are worth
// it.
void add_sleeping(Report& report) {
  const auto sleeping = [](std::int64_t) {
    return range(1'000'000).map([](std::int64_t y) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return y;
    });
  };
  const Meter meter;
  auto run = range(64).interleave(sleeping, {.cycle_length = 64}).start();
  const std::int64_t start = now_ns();
  std::int64_t first = 0, all = 0;
  for (std::int64_t now = start; now < start + 3'000'000'000; now = now_ns(), ++all) {
    if (now < start + 1'000'000'000) first = all;
    run.next();
  }
  const double rate = static_cast<double>(all - first) / 2;
  report.add({"nests",
              "sleep64",
              all,
              meter.stop(),
              {{"rate", rate}, {"ratio_to_6400", rate / 6400}},
              {{"ratio_to_6400", 0.97, false}}});
}

}  // namespace

void run_nests(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(3);
  add_memory(report);  // before others leave memory behind
  add_opening(rounds, report);
  add_turns("turns", 2, rounds, report);
  add_turns("turns_1", 1, rounds, report);
  add_sleeping(report);
}

}  // namespace penstock::bench
