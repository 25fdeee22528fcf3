#include "tests/exam/simulated_process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace penstock::exam {
namespace {

constexpr Time kBriskTick = autotune::Policy::kPeriod, kCalmTick = autotune::Policy::kCalmPeriod;
constexpr Time kBetweenClocks = 100 * kMillisecond, kBetweenLimits = kSecond;
constexpr std::int64_t kPoolThreads = 256;
constexpr double kLowWeight = 0.107;  // nice +10 against 0 (the kernel's table of weights: 110 of 1024)
constexpr double kLookCost = 10'000,
                 kLookAtStageCost = 3'000;  // ns: what a look of the controller costs; see README.md

std::int64_t whole_permits(double cpus) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(cpus - 0.01)));
}

}  // namespace

// Notes what is to be seen, at no cost.
struct SimulatedProcess::Tick final : Client {
  explicit Tick(SimulatedProcess& owner) : process(owner) {}
  void wake() override {
    for (auto& run : process.runs_) run->look(process.cpu_ns());
    process.host_.wake_at(process.host_.time() + kBriskTick, *this);
  }
  SimulatedProcess& process;
};

SimulatedProcess::SimulatedProcess(const ProcessSpec& spec, std::uint64_t seed)
    : host_(spec.host),
      gate_(whole_permits(host_.cpus())),
      compute_(host_, std::numeric_limits<std::int64_t>::max()),
      pool_(host_, kPoolThreads),
      cpus_(host_.cpus()),
      tick_(std::make_unique<Tick>(*this)) {
  for (std::size_t i = 0; i < spec.chains.size(); ++i) {
    runs_.push_back(std::make_unique<SimulatedRun>(SimulatedRun::Shared{host_, gate_, compute_, pool_}, spec.chains[i],
                                                   1'000 * seed + i));
  }
}

SimulatedProcess::~SimulatedProcess() {
  is_over_ = true;
  if (!has_started_) start();
  std::size_t down = 0;
  for (auto& run : runs_) {
    host_.spawn(Processor::controllers, [this, &run, &down] {
      run->stop();
      while (run->has_consumer()) host_.sleep(kMillisecond);
      run->shut_down();
      ++down;
    });
  }
  while (down < runs_.size()) host_.run_until(host_.time() + kSecond);
}

void SimulatedProcess::start() {
  has_started_ = true;
  std::vector<runtime::Attendant> all;
  for (auto& run : runs_) all.push_back(run->begin(*this));
  attendants_.add(all);
  host_.spawn(Processor::controllers, [this] { control(); });
  host_.wake_at(kBriskTick, *tick_);
}

void SimulatedProcess::run_until(Time end) {
  if (!has_started_) start();
  host_.run_until(end);
}

// As the runtime's thread does (lib/runtime/runtime.cc).
void SimulatedProcess::control() {
  Time looked_up = 0;
  while (!is_over_) {
    host_.sleep(static_cast<double>(attendants_.is_calm() ? kCalmTick : kBriskTick));
    if (host_.time() - looked_up >= kBetweenLimits) {
      looked_up = host_.time();
      cpus_ = host_.cpus();
      if (whole_permits(cpus_) != gate_.permits()) gate_.set_permits(whole_permits(cpus_));
    }
    if (clocks_.clocks_read_at < 0 || now() - clocks_.clocks_read_at >= kBetweenClocks) read_clocks();
    attendants_.look(clocks_);
    host_.processor().set_worker_weight(attendants_.all_give_way() ? kLowWeight : 1);
    for (auto& run : runs_) host_.compute(kLookCost + kLookAtStageCost * static_cast<double>(run->stages()));
  }
}

void SimulatedProcess::read_clocks() {
  const Processor& cores = host_.processor();
  clocks_.clocks_read_at = now();
  clocks_.process_cpu_ns = static_cast<Time>(cpu_ns() + cores.cpu_used(Processor::consumers));
  clocks_.workers_cpu_ns = static_cast<Time>(cpu_ns() - cores.cpu_used(Processor::users));
  clocks_.runs = attendants_.divide(cpus_, static_cast<double>(kPoolThreads));
}

double SimulatedProcess::cpu_ns() const {
  const Processor& cores = host_.processor();
  return cores.cpu_used(Processor::workers) + cores.cpu_used(Processor::controllers) + cores.cpu_used(Processor::users);
}

std::int64_t SimulatedProcess::cpu_of_workers() const {
  return static_cast<Time>(host_.processor().cpu_used(Processor::workers));
}

}  // namespace penstock::exam
