// Stage: one step of a run, as the engine and the launcher see it. It reacts to events and never waits. It knows no
// threads and no TBB: it reaches both through the Launcher.
//
//   receive()  ->  waiting input  ->  ring of groups (input order)  ->  send()
//                  `buffer`            `window`                          as far as credits go
//
// Its parts, each with what always holds of it: Inbox, Ring, Folded, Parts, Output (slots and groups), Tokens and
// FirstCalls (who may call), Reservation (with what memory), Meter and Sizes (what is known, and what follows).
// StageState is all of them; StageCore keeps them under one lock; Calls runs the body and Runner is what threads do
// with a token. Rules, each of which was found by breaking it (design notes in lib/README.md):
//
//   * Credits count slots. The consumer promises room for `buffer` slots and tops the promise up when it admits some.
//     No stage ever waits for another.
//   * A token is permission to run the OLDEST waiting group, whichever that is when it starts. Tokens <= parallelism.
//   * Results of a call over several slots may leave before it returns, and it gives back inputs that it has not begun:
//     an element that is done never waits for one that takes long, unless the order demands that.
//   * Where the user has fixed the number of calls, and order is kept, no element begins that is `window` or more
//     behind the oldest one that is not done. The window is twice the number of calls, unless the user moves that knob,
//     too. So a call may wait for a buffer that later elements hold, if there are `window` buffers and those that the
//     consumer keeps.
//
// | called            | by                                   | when                                      |
// |-------------------|--------------------------------------|-------------------------------------------|
// | receive           | the edge                             | slots arrive, at most as many as promised |
// | add_credits       | the edge                             | the next stage has room                   |
// | run_token         | a thread of the launcher             | once per launch()                         |
// | permit_is_free    | the permit gate                      | once per refused token                    |
// | memory_is_free    | the engine, or what lies behind      | after a refused reservation               |
// | cancel_pass       | a stage further down                 | it wants no more of a pass                |
// | set, get, snapshot | a controller, any thread            | at any time                               |
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "lib/exec/runner.h"
#include "lib/exec/stage_core.h"

namespace penstock::exec {

class Stage {
 public:
  // `marks`: repeats of the plan.
  Stage(const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host, PassControl& passes);

  // Data and events; see the table above.
  void receive(std::size_t port, Slots&& slots);
  void add_credits(std::int64_t count);
  void run_token(bool on_pool) noexcept { runner_.run_token(on_pool); }
  void permit_is_free();
  void memory_is_free() { core_.memory_is_free(); }
  void cancel_pass(std::size_t depth, std::uint64_t sequence,
                   std::uint64_t last = 0);  // and of those behind it up to the last one, if that is later
  void wake();                               // something outside has changed: look again

  // Calls under way; see Runner.
  bool look_after_calls() { return runner_.look_after_calls(); }
  void watch_calls() { runner_.watch_calls(); }
  void recall();  // they return as soon as the element that they are at is done
  bool help() { return runner_.help(); }
  // It has work that could begin, and waits for a CPU permit, or, if somebody waits for it, for a thread of the pool.
  bool can_be_relieved(bool is_awaited) const;

  void open();                           // all stages are there: from now on it asks for inputs
  void resume_after(const Stamp& last);  // leave out what was delivered
  Resumes* resumes() noexcept;           // at a save point, before open(); see Body

  void stop();             // after the engine's stop flag: cuts Completions off
  void let_go_of_slots();  // then, while calls still run: drops what they do not work on, also results of open calls
  void clear();            // when nothing runs any more: lets all elements go

  // Of this stage: parallelism, placement (1: on the pool), window, buffer, grain_ns.
  void set(KnobKind knob, std::int64_t value);
  std::int64_t get(KnobKind knob) const;
  void snapshot(StageSnapshot& out) const;

  const StageTraits& traits() const noexcept { return core_.traits; }
  StageSigns& signs() noexcept { return core_.signs; }
  Body& body() noexcept { return *core_.body; }

 private:
  static constexpr std::size_t kPastAll = std::numeric_limits<std::size_t>::max();

  StageCore core_;
  Runner runner_;
};

}  // namespace penstock::exec
