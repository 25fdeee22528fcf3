#include "lib/exec/consumer_clock.h"

#include <new>
#include <utility>

namespace penstock::exec {
namespace {

constexpr std::int64_t kBetweenChanges = 10'000'000;  // ns
constexpr std::int64_t kReadsPerDelay = 10;

std::unique_ptr<ThreadMeter> meter_if_any(const Machine& machine) noexcept {
  try {
    return machine.make_thread_meter();
  } catch (const std::bad_alloc&) {  // what is not known for want of memory is asked for again
    return nullptr;
  }
}

}  // namespace

void ConsumerClock::change_thread() noexcept {
  const std::int64_t now = machine_.now();
  const bool has_ended = has_ended_.exchange(false);
  if (thread_ != 0 && !has_ended && now - changed_ns_ < kBetweenChanges) return;
  changed_ns_ = now;
  thread_ = machine_.thread_number();
  MutexLock lock(mutex_);
  count(true);
  meter_ = meter_if_any(machine_);
  if (meter_ == nullptr) has_ended_ = true;
  const auto reading = meter_ ? meter_->read() : std::nullopt;
  last_ = reading.value_or(ThreadMeter::Reading());
  knows_cpu_ = knows_cpu_ || reading;
  knows_delay_ = knows_delay_ || last_.delay_ns;
}

void ConsumerClock::read() noexcept {
  MutexLock lock(mutex_);
  count(reads_++ % kReadsPerDelay == 0);
  if (knows_cpu_) cpu_ns_ = cpu_so_far_;
  if (knows_delay_) delay_ns_ = delay_so_far_;
}

void ConsumerClock::count(bool delay_too) noexcept {
  if (!meter_) return;
  std::optional<ThreadMeter::Reading> now;
  if (delay_too) {
    now = meter_->read();
  } else if (const auto cpu = meter_->cpu_ns()) {
    now = ThreadMeter::Reading{*cpu, std::nullopt};
  }
  if (!now) {
    has_ended_ = true;
    return meter_.reset();
  }
  cpu_so_far_ += now->cpu_ns - std::exchange(last_.cpu_ns, now->cpu_ns);
  if (!now->delay_ns) return;
  if (last_.delay_ns) delay_so_far_ += *now->delay_ns - *last_.delay_ns;
  last_.delay_ns = now->delay_ns;
}

std::int64_t ConsumerClock::cpu_ns() const {
  MutexLock lock(mutex_);
  return cpu_ns_;
}

void ConsumerClock::snapshot(ConsumerSnapshot& out) const {
  MutexLock lock(mutex_);
  out.cpu_ns = cpu_ns_;
  out.delay_ns = delay_ns_;
}

}  // namespace penstock::exec
