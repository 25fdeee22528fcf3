// What the controller's thread itself uses, while it looks after a run for some seconds. It looks every 10 ms at first,
// and half as often once no knob has moved for two seconds, which is what is measured.
//
//   stages_10   ten stages of cheap calls, a consumer that takes an element in a millisecond
//   calls_256   256 calls of 10 ms that wait, at once
//
// cores_of_waking: what a thread used that woke as often just before and did nothing; on a virtual machine up to half
// of the figure.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "autotune/policy.h"
#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "lib/core/clock.h"
#include "lib/runtime/runtime.h"

namespace penstock::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kSettling = 3s, kTime = 4s;
constexpr std::chrono::nanoseconds kPeriod(autotune::Policy::kCalmPeriod);

double controller_cpu_s() {
  using Role = exec::WorkerThreads::Role;
  return 1e-9 * static_cast<double>(runtime::Runtime::get().workers().cpu_ns(Role::controller));
}

// Wakes every kPeriod for as long as it exists.
class Sleeper {
 public:
  double stop() {
    thread_.request_stop();
    thread_.join();
    return 1e-9 * static_cast<double>(cpu_ns_);
  }

 private:
  void sleep(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable nobody;  // tells it anything
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) nobody.wait_for(lock, kPeriod);
    cpu_ns_ = thread_cpu_ns();
  }

  std::int64_t cpu_ns_ = 0;
  std::jthread thread_{[this](const std::stop_token& stop) { sleep(stop); }};
};

template <class T, class Step>
Row look_after(const std::string& variant, const Dataset<T>& dataset, const RunOptions& options, double bar,
               Step step) {
  auto run = dataset.start(options);
  Sleeper sleeper;
  for (const auto settled = std::chrono::steady_clock::now() + kSettling; std::chrono::steady_clock::now() < settled;
       step())
    run.next();
  const double waking = sleeper.stop() / std::chrono::duration<double>(kSettling).count();
  const Meter meter;
  const double before = controller_cpu_s();
  std::int64_t taken = 0;
  for (const auto end = std::chrono::steady_clock::now() + kTime; std::chrono::steady_clock::now() < end; ++taken) {
    run.next();
    step();
  }
  const double used = controller_cpu_s() - before;
  const Cost cost = meter.stop();
  return {"controller",    variant, taken, cost, {{"cores", used / cost.wall_s}, {"cores_of_waking", waking}},
          {{"cores", bar}}};
}

Dataset<std::int64_t> ten_stages() {
  auto chain = range(1'000'000'000);
  for (int i = 0; i < 9; ++i) chain = chain.map([](std::int64_t x) { return x + 1; });
  return chain;
}

}  // namespace

void run_controller(const CaseSettings&, Report& report) {
  report.add(look_after("stages_10", ten_stages(), {}, 0.005, [] { std::this_thread::sleep_for(1ms); }));
  const auto sleep = [](std::int64_t value) {
    std::this_thread::sleep_for(10ms);
    return value;
  };
  const auto waiting = range(1'000'000'000).map(sleep, 256, {.blocks = true});
  report.add(look_after("calls_256", waiting, {.open_io = 256}, 0.01, [] {}));
}

}  // namespace penstock::bench
