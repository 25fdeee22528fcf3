// What one large element among small ones costs a run that has little memory: its stage then reserves more for each
// call, until it has forgotten.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr std::size_t kSmall = 10 * KiB, kBudget = 64 * MiB;
constexpr int kCalls = 64;
constexpr auto kOutlierCall = std::chrono::milliseconds(5);
constexpr double kBefore = 2, kForgotten = 2,
                 kOutlierAfter = 2;  // s: measured before the outlier, let go, measured again
constexpr double kOutlierBar = 0.95;

template <class T> double rate_for(Run<T>& run, double seconds) {
  const std::int64_t begin = now_ns();
  std::int64_t taken = 0;
  for (; now_ns() - begin < static_cast<std::int64_t>(1e9 * seconds); ++taken) run.next();
  return static_cast<double>(taken) / (1e-9 * static_cast<double>(now_ns() - begin));
}

Row after_one_of(std::size_t outlier) {
  std::atomic<bool> is_due{false};
  const auto make = [&is_due, outlier](std::int64_t) {
    std::this_thread::sleep_for(kOutlierCall);
    return std::vector<char>(is_due.exchange(false) ? outlier : kSmall);
  };
  const Meter meter;
  auto run =
      range(std::int64_t{1} << 40).map(make, kCalls, {.blocks = true}).start({.memory_bytes = kBudget, .tune = false});
  rate_for(run, 0.5);
  const double before = rate_for(run, kBefore);
  is_due = true;
  while (run.next()->size() != outlier) {
  }
  rate_for(run, kForgotten);
  const double after = rate_for(run, kOutlierAfter);
  return {"outlier",
          std::to_string(outlier / MiB) + "_MiB",
          static_cast<std::int64_t>(before * kBefore + after * kOutlierAfter),
          meter.stop(),
          {{"rate_before", before}, {"rate_after", after}, {"after_beside_before", after / before}},
          {{"after_beside_before", kOutlierBar, false}}};
}

}  // namespace

void run_outlier(const CaseSettings& settings, Report& report) {
  for (int round = 0; round < settings.rounds_or(1); ++round) {
    for (const std::size_t outlier : {2 * MiB, 8 * MiB, 80 * MiB}) report.add(after_one_of(outlier));
  }
}

}  // namespace penstock::bench
