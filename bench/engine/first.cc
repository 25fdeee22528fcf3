// From the first line of a pipeline's description to its first element, and taking it down again.
#include <stdexcept>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/cheap_functions.h"
#include "bench/engine/drain.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

std::vector<std::int64_t> whole(std::vector<std::int64_t> batch) { return batch; }

// What the peers' script builds. Of its ten ops the first three are one stage here.
auto peers_pipeline() {
  return range(1 << 20)
      .shard(2, 0)
      .shuffle(1000, {.seed = 1})
      .repeat()
      .map(plus_one)
      .filter(is_there)
      .map(plus_one)
      .batch(32, {.drop_remainder = true})
      .map(whole)
      .prefetch(AUTOTUNE);
}

// Nine stages of the engine's own.
auto nine_stages() {
  return range(1 << 20)
      .map(plus_one)
      .filter(is_there)
      .shuffle(16, {.seed = 1})
      .map(plus_one)
      .batch(4)
      .unbatch()
      .batch(32)
      .map(whole);
}

struct Times {
  std::vector<double> build, start, first, total, teardown;  // milliseconds
};

template <class Make> void one_round(Times& times, Make make) {
  std::vector<std::int64_t> at = {now_ns()};
  {
    auto data = make();
    at.push_back(now_ns());
    auto run = data.start();
    at.push_back(now_ns());
    if (!run.next()) throw std::runtime_error("first: the pipeline is empty");
    at.push_back(now_ns());
  }
  at.push_back(now_ns());
  const auto between = [&at](std::size_t from, std::size_t to) {
    return 1e-6 * static_cast<double>(at[to] - at[from]);
  };
  times.build.push_back(between(0, 1));
  times.start.push_back(between(1, 2));
  times.first.push_back(between(2, 3));
  times.total.push_back(between(0, 3));
  times.teardown.push_back(between(3, 4));
}

template <class Make> Row row_of(const char* variant, Make make, int rounds) {
  Times times;
  const Meter meter;
  for (int round = 0; round < rounds; ++round) one_round(times, make);
  const Cost cost = meter.stop();
  const Spread total = spread_of(times.total);
  return {"first",
          variant,
          rounds,
          cost,
          {{"build_ms", spread_of(times.build).median},
           {"iterator_ms", spread_of(times.start).median},
           {"first_next_ms", spread_of(times.first).median},
           {"total_ms", total.median},
           {"total_best_ms", total.low},
           {"total_worst_ms", total.high},
           {"teardown_ms", spread_of(times.teardown).median},
           {"teardown_worst_ms", spread_of(times.teardown).high}},
          {}};
}

// A second epoch of the same description.
Row again(int rounds) {
  const auto data = range(1 << 20).map(plus_one).batch(32).prefetch(AUTOTUNE);
  Row row = row_of(
      "again", [&data] { return data; }, rounds);
  row.figures = {{"total_ms", row.figure("total_ms")},
                 {"total_best_ms", row.figure("total_best_ms")},
                 {"total_worst_ms", row.figure("total_worst_ms")}};
  return row;
}

}  // namespace

void run_first(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(100);
  report.add(row_of("cold", nine_stages, 1));  // with the process's threads, where no case came before
  Row nine = row_of("nine_stages", nine_stages, rounds);
  nine.bars = {{"total_ms", 1}};
  report.add(nine);
  report.add(row_of("default", peers_pipeline, rounds));
  report.add(again(rounds));
}

}  // namespace penstock::bench
