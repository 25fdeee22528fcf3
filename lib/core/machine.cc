#include "lib/core/machine.h"

#include <sys/resource.h>

#include <chrono>

#include "lib/core/clock.h"
#include "lib/core/scheduler_file.h"
#include "lib/core/thread_cpu_clock.h"

namespace penstock {
namespace {

class SystemSignal final : public Signal {
 public:
  void notify_all() noexcept override { changed_.notify_all(); }
  void wait_until(Mutex& mutex, std::int64_t moment) REQUIRES(mutex) override {
    if (moment == kNever) return changed_.wait(mutex);
    // now_ns() has its epoch
    changed_.wait_until(mutex, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(moment)));
  }

 private:
  CondVar changed_;
};

// Of the thread that makes it. The file knows its thread, the clock only its number: where there is a file, it says
// whether the thread still lives.
class SystemThreadMeter final : public ThreadMeter {
 public:
  std::optional<Reading> read() const noexcept override {
    const auto delay = file_.delay_ns();
    if (tells_delay_ && !delay) return std::nullopt;
    const auto cpu = clock_.cpu_ns();
    if (!cpu) return std::nullopt;
    return Reading{*cpu, delay};
  }
  std::optional<std::int64_t> cpu_ns() const noexcept override { return clock_.cpu_ns(); }

 private:
  const ThreadCpuClock clock_;
  const SchedulerFile file_;
  const bool tells_delay_ = file_.delay_ns().has_value();
};

}  // namespace

std::int64_t SystemMachine::now() const noexcept { return now_ns(); }

std::unique_ptr<Signal> SystemMachine::make_signal() const { return std::make_unique<SystemSignal>(); }

std::int64_t SystemMachine::thread_cpu_ns() const noexcept { return penstock::thread_cpu_ns(); }

std::int64_t SystemMachine::thread_delay_ns() const noexcept {
  static thread_local const SchedulerFile own;
  return own.delay_ns().value_or(0);
}

std::int64_t SystemMachine::thread_waits() const noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

int SystemMachine::thread_number() const noexcept { return this_thread_number(); }

std::unique_ptr<ThreadMeter> SystemMachine::make_thread_meter() const { return std::make_unique<SystemThreadMeter>(); }

bool SystemMachine::sleeps(int thread) const noexcept { return thread_sleeps(thread); }

const Machine& system_machine() noexcept {
  // Never destroyed, on purpose: threads of the runtime outlive static destructors.
  union Forever {
    constexpr Forever() : machine() {}
    ~Forever() {}  // NOLINT(modernize-use-equals-default): it would be deleted
    SystemMachine machine;
  };
  static constinit Forever forever;
  return forever.machine;
}

}  // namespace penstock
