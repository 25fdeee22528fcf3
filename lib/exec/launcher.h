// Launcher: the port through which stage logic reaches threads and edges.
//
// In production it is a oneTBB flow graph with an elastic pool (tbb_launcher.h). In the serial executor and in tests it is a queue
// that one thread pumps (queue_launcher.h), in an order that a seed decides, so that a failing schedule can be
// replayed. Stage logic itself knows no thread and no TBB.
#pragma once

#include <penstock/op.h>

#include "lib/exec/packet.h"

namespace penstock::exec {

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

  virtual void launch(Stage& stage, bool on_pool) = 0;            // later: stage.run_token(on_pool), once
  virtual void send(Stage& from, PacketRef packet) = 0;           // to the next stage's receive(), or the outlet's
  virtual void give_credits(Stage& to, std::int64_t count) = 0;   // to.add_credits(count)
  virtual void run_body(CallRef body) = 0;                        // body(), kept apart from other tasks of this thread
  virtual bool one_at_a_time() const = 0;                         // no read-ahead: groups of a single element
};

}  // namespace penstock::exec
