#include "tests/exam/real/real_consumer.h"

#include <penstock/element.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>

#include "lib/core/clock.h"

namespace penstock::exam {

void RealConsumer::consume(detail::RunCore& run, Time end) {
  deadline_ns_ = now_ns() + end - world_.now();
  while (world_.now() < end) {
    const ConsumerPhase& phase = phase_at(phases_, world_.now());
    const Time began = world_.now();
    waited_ = 0;
    if (!take_burst(run, phase)) return;
    work(phase);
    if (phase.idle + phase.cpu > 0) steps_.push_back({world_.now(), world_.now() - began - waited_});
  }
}

void RealConsumer::consume_alone(Time end) {
  while (world_.now() < end) {
    const ConsumerPhase& phase = phase_at(phases_, world_.now());
    const Time began = world_.now();
    burn_cpu(phase.cpu_each * static_cast<double>(phase.burst));
    work(phase);
    steps_.push_back({world_.now(), world_.now() - began});
  }
}

// False: the time is over.
bool RealConsumer::take_burst(detail::RunCore& run, const ConsumerPhase& phase) {
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns_)};
  for (std::int64_t i = 0; i < phase.burst; ++i) {
    Element element;
    const Time asked = world_.now();
    const auto status = run.next(element, &deadline);
    if (status == detail::RunCore::Status::end) throw std::runtime_error("the pipeline ended, but it has no end");
    if (status == detail::RunCore::Status::timeout) return false;
    waited_ += world_.now() - asked;
    burn_cpu(phase.cpu_each);
  }
  return true;
}

void RealConsumer::work(const ConsumerPhase& phase) {
  burn_cpu(phase.cpu);
  sleep_ns(phase.idle);
}

double p95_of(const std::vector<ConsumerStep>& steps) {
  if (steps.empty()) return 0;
  std::vector<Time> times;
  for (const ConsumerStep& step : steps) times.push_back(step.time);
  std::ranges::sort(times);
  return static_cast<double>(times[static_cast<std::size_t>(static_cast<double>(times.size() - 1) * 0.95)]);
}

}  // namespace penstock::exam
