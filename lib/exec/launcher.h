// Launcher: the port through which stage logic reaches threads and edges.
//
// In production it is a oneTBB flow graph with an elastic pool (tbb_launcher.h). In the serial executor and in tests it
// is a queue that one thread pumps (queue_launcher.h), in an order that a seed decides, so that a failing schedule can
// be replayed. The engine itself knows no thread and no TBB.
#pragma once

#include <penstock/op.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/exec/edges.h"
#include "lib/exec/packet.h"

namespace penstock::exec {

class Outlet;
class Stage;

// A call without parameters that does not own what it refers to.
class CallRef {
 public:
  template <class F>
  explicit CallRef(F& function) noexcept
      : object_(&function), call_([](void* object) { (*static_cast<F*>(object))(); }) {}
  void operator()() const { call_(object_); }

 private:
  void* object_;
  void (*call_)(void*);
};

// Called without any stage lock held: every call may come back into the same or another stage.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual void connect(const std::vector<Stage*>& stages, const Edges& edges,
                       Outlet& outlet) = 0;  // once, before all that follows

  // What stages ask.
  virtual void launch(Stage& stage, bool on_pool) = 0;        // later: stage.run_token(on_pool), once
  virtual void send(const Edge& edge, PacketRef packet) = 0;  // down: to its stage's receive(), or the outlet's
  virtual void give_credits(const Edge& edge,
                            std::int64_t count) = 0;  // up: to the add_credits() of the stage that feeds it
  virtual void run_body(CallRef body) = 0;            // body(), kept apart from other tasks of this thread
  virtual bool one_at_a_time() const = 0;             // no read-ahead: groups of a single element

  // What the engine tells, of tokens that are not on the pool: one has given its permit back and ends; one goes on
  // without a permit; one without a permit ends.
  virtual void token_ends() {}
  virtual void token_goes_without_permit() noexcept {}
  virtual void token_ends_without_permit() noexcept {}
  // What the engine asks: other work, on a spare thread if need be. It must not throw. False: there is no thread to be
  // had.
  virtual bool try_on_pool(std::function<void()>) { return false; }
  // Tokens for the pool wait for a thread.
  virtual bool pool_is_wanted() const noexcept { return false; }
  // Runs one token that waits for a thread on this one. False: there is none.
  virtual bool run_waiting_here() { return false; }
  // The system gives no more threads: those that there are may wait for what such a token would bring.
  virtual bool lacks_threads() const noexcept { return false; }
  // Waits until no token and no other work is under way, but no longer than `time`. True: none is.
  virtual bool wait_for(std::chrono::nanoseconds time) = 0;

  // Tokens run when a waiting consumer pumps them, not by themselves.
  virtual bool is_pumped() const { return false; }
  virtual bool pump(std::int64_t /*deadline*/) {
    return false;
  }  // runs one, or waits for one or for a slot at the outlet. False: the deadline has passed, and there is no slot
  virtual void stop_waiting() {}  // for good: who pumps need not wait any more
};

}  // namespace penstock::exec
