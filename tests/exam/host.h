// Host: a machine in virtual time: cores that threads share, devices that they wait for, timers, and the threads of one
// process as fibres. The same seed gives the same run, on any machine.
//
//   Host host({.cores = 2});
//   host.spawn(Processor::workers, [&] { host.compute(1e6); host.sleep(kMillisecond); });
//   host.run_until(kSecond);
//
// It is a Machine, so an engine whose bodies call compute() and sleep() runs on it as on the system (launcher.h). What
// it does not know: README.md.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tests/exam/device.h"
#include "tests/exam/events.h"
#include "tests/exam/processor.h"
#include "tests/exam/spec.h"
#include "lib/core/machine.h"
#include "tests/exam/fibres.h"

namespace penstock::exam {

inline constexpr double kWakeUp = 5'000;  // ns of CPU that it takes a thread to wake up

class Host final : public Machine {
 public:
  explicit Host(const HostSpec& spec);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  Fibre& spawn(Processor::Threads kind, std::function<void()> work);
  void run_until(Time end);
  Time time() const noexcept { return now_; }  // without what the running thread still owes

  // By a thread of the host. What it computes it owes until it waits, or has computed for a while: only then do others
  // see its time.
  void compute(double ns);
  void settle();  // has computed all of it
  void sleep(double ns);
  void sleep_until(Time moment);
  void use(Device& device, double ns, double calls);  // a share of its time; see Device::request
  void wait();                                        // until somebody wakes it
  void charge(double ns);                             // as compute(), but it never waits here: also with a lock held

  Device& add_device(const DeviceSpec& spec);
  Processor& processor() noexcept { return processor_; }
  const Processor& processor() const noexcept { return processor_; }
  const HostSpec& spec() const noexcept { return spec_; }
  double cpus() const;  // that the process may use by now
  Fibres& fibres() noexcept { return fibres_; }
  void wake_at(Time moment, Fibre& fibre);  // if it still waits as it is about to
  void wake_at(Time moment, Client& client) { events_.add(moment, client); }
  ThreadUse use_of(const Fibre& fibre) const;

  // Machine. The clock begins at a second, for a moment of zero means never in some places.
  std::int64_t now() const noexcept override;
  std::unique_ptr<Signal> make_signal() const override;
  std::int64_t thread_cpu_ns() const noexcept override;
  std::int64_t thread_delay_ns() const noexcept override;
  std::int64_t thread_waits() const noexcept override;
  int thread_number() const noexcept override;
  std::unique_ptr<ThreadMeter> make_thread_meter() const override;
  bool sleeps(int thread) const noexcept override { return fibres_.sleeps(thread); }

 private:
  struct Timer;
  struct Change;
  void follow_the_world();
  ThreadUse use_of_current() const;

  Host& self_ = *this;  // for the port's functions, which are const
  const HostSpec spec_;
  Time now_ = 0;
  EventQueue events_;
  Processor processor_;
  std::deque<Device> devices_;
  std::deque<std::unique_ptr<Timer>> timers_;
  std::vector<Timer*> spare_timers_;
  std::unique_ptr<Change> change_;
  Fibres fibres_;
};

}  // namespace penstock::exam
