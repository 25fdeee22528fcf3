// Machine: the port to clocks and to what the system tells of threads. A run reads the time, sleeps beside its outlet
// and asks what its calls use through it alone: so the same engine runs on the system, on a clock that a test moves,
// and in virtual time (the controller's exam).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "lib/base/mutex.h"

namespace penstock {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();  // a moment that does not come

// A condition variable on the clock of its machine.
class Signal {
 public:
  virtual ~Signal() = default;
  virtual void notify_all() noexcept = 0;
  // Until it is notified, at most until that moment of Machine::now(). May come back without either: ask again what was
  // waited for.
  virtual void wait_until(Mutex& mutex, std::int64_t moment) REQUIRES(mutex) = 0;
};

// What one thread has used so far, for any thread to read.
class ThreadMeter {
 public:
  struct Reading {
    std::int64_t cpu_ns = 0;
    std::optional<std::int64_t> delay_ns;  // ready to run, and no core free; none where the system does not tell
  };
  virtual ~ThreadMeter() = default;
  virtual std::optional<Reading> read() const noexcept = 0;  // none: the thread has ended. ~2 us, under load 5
  // The CPU time alone, ~0.5 us. In between, for it cannot tell an ended thread from a later one with its number.
  virtual std::optional<std::int64_t> cpu_ns() const noexcept = 0;
};

// All functions may be called by any thread at any time.
class Machine {
 public:
  virtual ~Machine() = default;

  virtual std::int64_t now() const noexcept = 0;  // nanoseconds since some fixed moment; never goes back. ~20 ns
  virtual std::unique_ptr<Signal> make_signal() const = 0;

  // Of the calling thread. Each asks the system, 0.3 to 1 us.
  virtual std::int64_t thread_cpu_ns() const noexcept = 0;
  virtual std::int64_t thread_delay_ns()
      const noexcept = 0;  // ready to run, and no core free; stays 0 where the system does not tell
  virtual std::int64_t thread_waits() const noexcept = 0;              // how often it gave the CPU up by itself
  virtual int thread_number() const noexcept = 0;                      // by which sleeps() knows it. ~1 ns
  virtual std::unique_ptr<ThreadMeter> make_thread_meter() const = 0;  // ~5 us

  // Whether that thread waits for something at this moment: it neither runs nor is kept from a core. False where the
  // system does not tell. 10 to 30 us.
  virtual bool sleeps(int thread) const noexcept = 0;
};

// The one that the process runs on.
class SystemMachine : public Machine {
 public:
  std::int64_t now() const noexcept override;
  std::unique_ptr<Signal> make_signal() const override;
  std::int64_t thread_cpu_ns() const noexcept override;
  std::int64_t thread_delay_ns() const noexcept override;
  std::int64_t thread_waits() const noexcept override;
  int thread_number() const noexcept override;
  std::unique_ptr<ThreadMeter> make_thread_meter() const override;
  bool sleeps(int thread) const noexcept override;
};
const Machine& system_machine() noexcept;

}  // namespace penstock
