// Runner: what a thread does that has a token of a stage, or looks after one of its calls.
//
// Results of a call over several slots leave while it goes on, and it gives back inputs that it has not begun when it
// is asked to (OpenCall). So an element that is done never waits for one that takes long, unless the order demands
// that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lib/exec/stage_core.h"

namespace penstock::exec {

class Runner {
 public:
  explicit Runner(StageCore& core) : core_(core) {}

  // Runs group after group while there is work. A compute thread gives its CPU permit back after some 50 us if a stage
  // of higher rank or another run waits for one.
  void run_token(bool on_pool) noexcept EXCLUDES(core_.mutex);
  // Runs one waiting group on this thread; false: there is none.
  bool help() EXCLUDES(core_.mutex);
  // Called now and then, above all while the consumer waits. Asks calls that take long to give back what they have not
  // begun, and lets their results leave; also folded results, which find no thread if all calls wait. True: something
  // could leave.
  bool look_after_calls() EXCLUDES(core_.mutex);
  // Called now and then: looks whether a call sleeps (StageSnapshot::looks).
  void watch_calls() EXCLUDES(core_.mutex);
  // A Completion's answer. Any thread, once per detached group.
  void complete(Group& group, Slot::Kind kind, Element value) noexcept EXCLUDES(core_.mutex);
  // A call that cannot be broken off holds more than foreseen.
  void count_more(Group& group, std::int64_t bytes) noexcept { exec::count_more(group, core_.traits.memory, bytes); }

 private:
  // All of these release the lock for a while.
  Group* claim_group() REQUIRES(core_.mutex);
  bool provide(Group& group) REQUIRES(core_.mutex);
  void ask_hint(Group& group) REQUIRES(core_.mutex);
  void withdraw_claim() REQUIRES(core_.mutex);
  bool place_is_wanted(bool on_pool) const REQUIRES(core_.mutex);
  bool leave_token(bool on_pool) REQUIRES(core_.mutex);
  void run_group(Group& group) REQUIRES(core_.mutex);
  void run_to_end(Group& group) REQUIRES(core_.mutex);
  void start_detached(Group& group) REQUIRES(core_.mutex);
  void unfold(Group& group) REQUIRES(core_.mutex);
  void finish_part(Group& part) REQUIRES(core_.mutex);
  Sealed settle_part(Group& part) REQUIRES(core_.mutex);
  bool let_slots_of_nest_leave() REQUIRES(core_.mutex);
  void want_long_calls_back() REQUIRES(core_.mutex);
  bool let_parts_leave() REQUIRES(core_.mutex);
  void let_more_begin() REQUIRES(core_.mutex);
  bool sleeps(int thread) const REQUIRES(core_.mutex);

  std::optional<Calls::Outcome> run_call(Group& group) EXCLUDES(core_.mutex);

  StageCore& core_;
};

}  // namespace penstock::exec
