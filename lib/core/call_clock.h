// CallClock: what one call uses of its thread, without what it costs to ask.
//
// To ask is to call the system, and there a thread that has had its time loses its core: on a busy machine half a
// millisecond around a call of ten microseconds. So a disturbed reading at the beginning is taken again, and of one at
// the end what it lasted is left out.
#pragma once

#include <cstdint>

#include "lib/core/machine.h"

namespace penstock {

// What a thread has used.
struct ThreadUse {
  std::int64_t cpu_ns = 0;
  std::int64_t delay_ns = 0;  // ready to run, and no core free; stays 0 where the system does not tell
  std::int64_t waits = 0;     // how often it gave the CPU up by itself; a thread that was merely preempted has not
};

class CallClock {
 public:
  struct Reading {
    std::int64_t begun_ns = 0, ended_ns = 0;  // by Machine::now()
    ThreadUse use;
  };

  explicit CallClock(const Machine& machine = system_machine()) noexcept : machine_(machine) {}

  // On the thread of the call, both. `with_waits`: ThreadUse::waits are wanted. 2 us, with them 3.
  void begin(bool with_waits) noexcept;
  ThreadUse end() noexcept;  // since begin()

  // The thread lost its core meanwhile, by the time that it took.
  static bool is_disturbed(const Reading& reading) noexcept;
  static ThreadUse between(const Reading& first, const Reading& last) noexcept;

 private:
  const Machine& machine_;
  Reading first_;
  bool with_waits_ = false;
};

}  // namespace penstock
