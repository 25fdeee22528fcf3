// The file names of ImageNet's training set, shuffled over the whole set: time to the first one, and
// memory on top of the names.
#include <malloc.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kNames = 1'281'167;
constexpr double kMB = 1e6;

std::vector<std::string> make_names() {
  std::vector<std::string> names;
  names.reserve(kNames);
  char text[64];
  for (std::int64_t i = 0; i < kNames; ++i) {
    const int folder = static_cast<int>(i % 1000);
    std::snprintf(text, sizeof(text), "train/n%08d/n%08d_%lld.JPEG", folder, folder, static_cast<long long>(i));
    names.emplace_back(text);
  }
  return names;
}

// What malloc has handed out, large blocks included: exact, where resident memory goes by pages.
double heap_mb() {
  const auto info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / kMB;
}
double resident_mb() { return static_cast<double>(rss_bytes()) / kMB; }
double ms_between(std::int64_t from, std::int64_t to) { return 1e-6 * static_cast<double>(to - from); }

// One shuffled run up to its first element, and how much it takes while it lives.
struct First {
  double ms = 0, heap = 0, resident = 0, teardown_ms = 0;
};

First first_of(const Dataset<std::string>& names, std::int64_t buffer) {
  First first;
  const double heap = heap_mb(), resident = resident_mb();
  const std::int64_t start = now_ns();
  std::optional<Run<std::string>> run(names.shuffle(buffer, {.seed = 1}).start());
  if (!run->next()) throw std::runtime_error("names: no element");
  first.ms = ms_between(start, now_ns());
  first.heap = heap_mb() - heap;
  first.resident = resident_mb() - resident;
  const std::int64_t end = now_ns();
  run.reset();
  first.teardown_ms = ms_between(end, now_ns());
  return first;
}

Row permutation_row(const Dataset<std::string>& names, int rounds) {
  std::vector<double> ms, heap, resident, teardown;
  const Meter meter;
  for (int round = 0; round < rounds; ++round) {
    const First first = first_of(names, kNames);
    ms.push_back(first.ms);
    heap.push_back(first.heap);
    resident.push_back(first.resident);
    teardown.push_back(first.teardown_ms);
  }
  return {"permutation",
          "full",
          kNames,
          meter.stop(),
          {{"first_ms", spread_of(ms).median},
           {"first_worst_ms", spread_of(ms).high},
           {"heap_mb", spread_of(heap).high},
           {"rss_mb", spread_of(resident).median},
           {"teardown_ms", spread_of(teardown).median}},
          {{"first_ms", 5}, {"heap_mb", 1}}};
}

// The peers' rows.
Row peers_row(const Dataset<std::string>& names, std::int64_t buffer, double names_mb) {
  const Meter meter;
  const First first = first_of(names, buffer);
  return {"names_shuffle",
          "penstock_buffer" + std::to_string(buffer),
          kNames,
          meter.stop(),
          {{"first_s", 1e-3 * first.ms},
           {"names_mb", names_mb},
           {"shuffle_mb", std::max(first.heap, 0.0)},
           {"teardown_s", 1e-3 * first.teardown_ms}},
          {}};
}

// The pause between the last element of an epoch and the first of the next.
Row second_epoch(const Dataset<std::string>& names) {
  const Meter meter;
  auto run = names.shuffle(kNames, {.seed = 1}).repeat(2).start();
  for (std::int64_t i = 0; i < kNames; ++i) run.next();
  std::vector<double> gaps;
  for (int i = 0; i < 101; ++i) {
    const std::int64_t start = now_ns();
    run.next();
    gaps.push_back(1e-3 * ms_between(start, now_ns()));
  }
  const double gap = gaps.front();
  gaps.erase(gaps.begin());
  return {"names_shuffle",
          "penstock_second_epoch_first",
          kNames,
          meter.stop(),
          {{"gap_s", gap}, {"later_max_s", spread_of(gaps).high}},
          {}};
}

Row whole_epoch(const Dataset<std::string>& names, int rounds) {
  const Cost cost = cheapest_drain(names.shuffle(kNames, {.seed = 1}).batch(1000), (kNames + 999) / 1000, rounds);
  return {"names_shuffle",
          "penstock_whole_epoch_batch1000",
          kNames,
          cost,
          {{"cpu_ns_per_element", ns_per(cost.cpu_s, kNames)}},
          {}};
}

void warm_up() { drain(range(1000), 1000); }  // the process's own threads are not the run's

}  // namespace

void run_permutation(const CaseSettings& settings, Report& report) {
  warm_up();
  report.add(permutation_row(from_vector(make_names()), settings.rounds_or(25)));
}

void run_names(const CaseSettings& settings, Report& report) {
  warm_up();
  const double before = heap_mb();
  const auto names = from_vector(make_names());
  const double names_mb = heap_mb() - before;
  for (std::int64_t buffer : {kNames, std::int64_t{10'000}, std::int64_t{1}})
    report.add(peers_row(names, buffer, names_mb));
  report.add(second_epoch(names));
  report.add(whole_epoch(names, settings.rounds_or(3)));
}

}  // namespace penstock::bench
