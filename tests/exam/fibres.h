// Fibres: the threads of a simulated host. Each has a stack of its own; one runs at a time, until it waits for
// something, and the order in which they became ready alone decides which comes next. All of it on one thread of the
// system's, so what the library keeps for each thread is theirs together: bytes copied are not told apart, and a fibre
// must not wait inside a catch block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tests/exam/events.h"
#include "lib/core/call_clock.h"
#include "lib/exec/body_scope.h"

namespace penstock::exam {

class Fibres;

class Fibre final : public Client {
 public:
  Fibre(Fibres& fibres, int number);
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  void wake() override;                            // it is ready, and runs when its turn comes
  int number() const noexcept { return number_; }  // from 1 on

  // The host's own notes of it.
  ThreadUse use;         // so far
  double debt_ns = 0;    // of CPU, that it has asked for and not had yet
  int kind = 0;          // Processor::Threads
  double clock_ns = -1;  // of the processor, when it began to compute; < 0: it does not
  bool sleeps = false;
  std::uint64_t waits = 0;  // a timer that comes late finds another number

 private:
  friend class Fibres;
  struct Context;
  void run();    // by the scheduler: until it waits or ends
  void yield();  // back to the scheduler
  [[noreturn]] void work_for_ever();

  Fibres& fibres_;
  const int number_;
  std::function<void()> work_;
  const exec::BodyScope* innermost_ = nullptr;  // of its calls
  const std::unique_ptr<Context> context_;
};

class Fibres {
 public:
  Fibres() = default;
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;

  // Ready at once. The work must not throw. One that has ended is used again; its number and what it has used go on.
  Fibre& spawn(std::function<void()> work);
  // One that is ready, until it waits or ends. False: there is none.
  bool run_one();
  // By a fibre: until somebody wakes it.
  void wait();
  Fibre* current() const noexcept { return current_; }  // null: the scheduler
  bool sleeps(int number) const noexcept { return all_[static_cast<std::size_t>(number) - 1]->sleeps; }

 private:
  friend class Fibre;
  std::vector<std::unique_ptr<Fibre>> all_;
  std::vector<Fibre*> spare_;
  std::deque<Fibre*> ready_;
  Fibre* current_ = nullptr;
};

}  // namespace penstock::exam
