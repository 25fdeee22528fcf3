// The soak: epochs, abandonments, errors, checkpoints and knob moves at random, over random graphs and over pipelines
// that read and decode files, for as long as one likes. What is delivered is checked all the while, and at the end that
// the process takes no more memory, threads and descriptors than after its warm-up.
//
//   PENSTOCK_SOAK=2700     so many seconds, the first third of them warm-up; 8 unless given. From 1800 on growth is
//                          judged in per cent, in less only against 64 MiB
//   PENSTOCK_SEED=n        another series
//
// The long one needs GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=2: else glibc's arenas scatter
// more and more, and it keeps some freed blocks of each size for each of 80 threads, which takes hours to fill, counts
// as live, and hides what the library itself keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.h>

#include "tests/soak/picture_pipelines.h"
#include "tests/soak/usage.h"
#include "tests/support/environment.h"
#include "tests/support/random_graphs/trial.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/watchdog.h"

namespace soak {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using penstock::test::Random;
using random_graphs::Coverage;
using random_graphs::Failure;
using random_graphs::Trial;

constexpr double kMiB = 1 << 20;
constexpr int kBlockingCalls = 64;  // as many as RunOptions::open_io has it
constexpr int kWorkers = 8;         // at most, as draw_options() has it

// One round after the other, each of them some runs of one pipeline.
class Rounds {
 public:
  explicit Rounds(std::uint64_t seed) : random_(seed) {
    watchdog_.watch("all workers");
    start_all_workers();
  }

  const Coverage& coverage() const { return coverage_; }

  void next() {
    const std::uint64_t seed = random_.next();
    const std::string name = "round " + std::to_string(round_++) + ", seed " + std::to_string(seed);
    watchdog_.watch(name);
    try {
      Random random(seed);
      random.one_in(2) ? run_pictures(random) : run_graph(random);
    } catch (const std::exception& failure) {
      ADD_FAILURE() << name << ": " << failure.what();
    }
  }

  // Each window begins with the largest load there is, so that all have seen the same.
  void begin_window() {
    watchdog_.watch("all at once");
    start_all_threads();
    pictures_.run_at_once();
  }

  // Runs that are at an end may still have threads that wait for work. Returns what is left when no more of them leave.
  Usage rest() {
    Usage usage = usage_now();
    for (int same = 0; same < 80; ++same) {
      watchdog_.watch("rest");
      std::this_thread::sleep_for(100ms);
      const Usage now = usage_now();
      if (now.threads != usage.threads) same = 0;
      usage = now;
    }
    return usage;
  }

 private:
  // Calls that wait for one another need a thread each. Else it hangs on what else the machine does how many there are,
  // and each has some memory of its own.
  static void start_all_threads() {
    std::latch all_are_here(kBlockingCalls);
    auto run = penstock::range(kBlockingCalls)
                   .map(
                       [&](std::int64_t value) {
                         all_are_here.arrive_and_wait();
                         return value;
                       },
                       kBlockingCalls, {.blocks = true})
                   .start();
    while (run.next()) {
    }
  }

  // Each thread that works for the first time, be it after half an hour, has memory of its own from then on.
  static void start_all_workers() {
    constexpr int calls = 2 * kWorkers;
    std::atomic<int> here = 0;
    auto run = penstock::range(calls)
                   .map(
                       [&](std::int64_t value) {
                         ++here;
                         for (int patience = 0; here < calls && patience < 1000; ++patience)
                           std::this_thread::sleep_for(1ms);
                         return value;
                       },
                       calls)
                   .start({.threads = calls});
    while (run.next()) {
    }
  }

  void run_pictures(Random& random) { run_some_epochs(random.pick(pictures_.all()), *courier_, random, coverage_); }

  void run_graph(Random& random) {
    const random_graphs::Graph graph = random_graphs::draw_graph(random.next());
    Trial trial(graph, bench_);
    const auto driver = random_graphs::engine_driver();
    switch (random.below(graph.arbitrary ? 3 : 4)) {
      case 0: return trial.check_whole(driver, random, coverage_);
      case 1: return trial.check_abandoned(driver, random, coverage_);
      case 2: return trial.check_skipped(driver, random, coverage_);
      default: return trial.check_resumed(driver, random, coverage_);
    }
  }

  const std::shared_ptr<random_graphs::Courier> courier_ = std::make_shared<random_graphs::ThreadCourier>(1);
  const penstock::test::TemporaryFolder folder_;
  const random_graphs::Workbench bench_{courier_, folder_.path()};
  const PicturePipelines pictures_;
  Random random_;
  std::int64_t round_ = 0;
  Coverage coverage_;
  penstock::test::Watchdog watchdog_;
};

// One line for each window of time.
class Table {
 public:
  explicit Table(const Coverage& coverage) : coverage_(coverage) {
    std::cout << "      s  RSS MiB  settled     live  threads (most)  fds (most)      runs    epochs  abandoned    "
                 "errors  knob moves\n";
  }

  void add(const Window& window) {
    const std::chrono::duration<double> passed = Clock::now() - start_;
    const Usage median = window.median(), most = window.largest();
    std::cout << std::fixed << std::setprecision(1) << std::setw(7) << passed.count() << std::setw(9)
              << static_cast<double>(median.resident) / kMiB << std::setw(9)
              << static_cast<double>(median.settled) / kMiB << std::setw(9) << static_cast<double>(median.live) / kMiB
              << std::setw(9) << median.threads << std::setw(7) << most.threads << std::setw(5) << median.descriptors
              << std::setw(7) << most.descriptors << std::setw(10) << coverage_.runs << std::setw(10)
              << coverage_.epochs << std::setw(11) << coverage_.abandonments << std::setw(10) << coverage_.errors
              << std::setw(12) << coverage_.moves() << std::endl;
  }

 private:
  const Coverage& coverage_;
  const Clock::time_point start_ = Clock::now();
};

constexpr int kOtherDescriptors = 8;  // standard streams, and what is open while a sample is taken
constexpr int kWindows = 30;
constexpr int kWarmUp = 10;       // windows; in ten minutes malloc's arenas have become nearly as scattered as they get
constexpr int kLongSoak = 1'800;  // s; ten minutes of them are warm-up
constexpr int kCompared = 8;      // windows at either end of the rest

// What all windows took, and what was left when nothing ran: behind the warm-up and at the end.
struct Result {
  std::vector<Window> windows;
  Usage rested_first, rested_last;
  Usage unemptied;  // after some seconds without a sample

  Window first() const { return joined(kWarmUp); }
  Window last() const { return joined(kWindows - kCompared); }

 private:
  Window joined(int from) const {
    Window all;
    for (int i = from; i < from + kCompared; ++i) all.add(windows.at(static_cast<std::size_t>(i)));
    return all;
  }
};

// Each sample empties the payload pool: what it keeps is seen after a longer time without one.
Usage usage_after(Rounds& rounds, std::chrono::seconds duration) {
  rounds.begin_window();
  const auto end = Clock::now() + duration;
  while (Clock::now() < end && !::testing::Test::HasFailure()) rounds.next();
  return usage_now();
}

Result soak(std::chrono::seconds duration, std::uint64_t seed) {
  Rounds rounds(seed);
  Table table(rounds.coverage());
  Result result;
  auto next_sample = Clock::now();
  for (int i = 0; i < kWindows; ++i) {
    if (i == kWarmUp) result.rested_first = rounds.rest();
    Window& window = result.windows.emplace_back();
    rounds.begin_window();
    const auto end = Clock::now() + duration / static_cast<double>(kWindows);
    do {
      rounds.next();
      if (!window.empty() && Clock::now() < next_sample) continue;
      window.add(usage_now());  // while nothing runs
      next_sample = Clock::now() + 1s;
    } while (Clock::now() < end && !::testing::Test::HasFailure());
    table.add(window);
  }
  result.unemptied = usage_after(rounds, std::max<std::chrono::seconds>(5s, duration / kWindows));
  result.rested_last = rounds.rest();
  return result;
}

double growth(std::int64_t first, std::int64_t last) {
  return static_cast<double>(last) / static_cast<double>(first) - 1;
}

TEST(Soak, TakesNoMoreMemoryThreadsAndDescriptorsAsTimeGoesOn) {
  const auto asked = penstock::test::number_from_environment("PENSTOCK_SOAK");
  const auto seed = penstock::test::number_from_environment("PENSTOCK_SEED").value_or(1);
  const Result result = soak(std::chrono::seconds(asked.value_or(8)), seed);

  const Usage first = result.first().median(), last = result.last().median();
  const double resident = growth(first.resident, last.resident), settled = growth(first.settled, last.settled);
  const double live = growth(first.live, last.live);
  const std::int64_t kept = result.unemptied.kept;
  std::cout << "kept for reuse " << static_cast<double>(kept) / kMiB << " MiB, of "
            << static_cast<double>(most_kept()) / kMiB << " allowed; resident " << std::showpos << 100 * resident
            << " %, settled " << 100 * settled << " %, live " << 100 * live << " %" << std::noshowpos << "; at rest "
            << result.rested_first.threads << " and " << result.rested_last.threads << " threads, "
            << result.rested_first.descriptors << " and " << result.rested_last.descriptors << " descriptors\n";
  // In a few seconds memory has not settled, so they show large leaks only; twenty minutes behind the warm-up show the
  // slow ones.
  if (asked.value_or(8) >= kLongSoak) {
    EXPECT_LE(live, 0.02);
    EXPECT_LE(resident, 0.02);
    EXPECT_LE(settled, 0.05);  // malloc's arenas go on scattering a little
  } else {
    EXPECT_LE(last.settled, first.settled + 64 * (1 << 20));
  }
  // Else a pool that keeps too much would not be seen: `settled` is what there is without it. The rest: what others do
  // meanwhile.
  EXPECT_LE(kept, most_kept() + 8 * (1 << 20));
  // Threads come with the calls that are out, and leave after some seconds.
  EXPECT_LE(result.rested_last.threads, result.rested_first.threads + kWorkers);
  // A thread that has run calls keeps one file open, of what the scheduler tells of it.
  EXPECT_LE(result.rested_last.descriptors, result.rested_last.threads + kOtherDescriptors);
  EXPECT_LE(last.descriptors, last.threads + kOtherDescriptors);
}

}  // namespace
}  // namespace soak
