// TbbLauncher: a chain of stages as a oneTBB flow graph, one cluster of nodes per stage.
//
//   packet --> [ in: multifunction, lightweight ] stage.receive()
//   token ---> [ exec: multifunction, unlimited ] stage.run_token(); its port 0 is the edge to the next `in`
//   credits -> [ credit: function, lightweight  ] stage.add_credits()
//
// Lightweight nodes run inside the sender's try_put, so an edge costs some 10 ns; only tokens are tasks. Blocking tokens go to the
// elastic pool instead, with the graph's wait count held. Tokens that come from a thread which is no worker of this arena are
// enqueued: a plain spawn from outside may never find a worker (design/engine.md, trap 1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lib/exec/elastic_pool.h"
#include "lib/exec/launcher.h"
#include "lib/exec/worker_threads.h"

namespace penstock::exec {

class Outlet;

class TbbLauncher final : public Launcher {
 public:
  TbbLauncher(std::int64_t slots, ElasticPool& pool, WorkerThreads& workers);
  ~TbbLauncher() override;  // waits, then takes the graph down

  void connect(const std::vector<Stage*>& stages, Outlet& outlet);
  void wait();              // until no token is under way
  // On a thread of the pool, a spare one if need be; wait() waits for it, too. It must not throw. False: there is none to be had.
  bool try_on_pool(std::function<void()> work);

  void launch(Stage& stage, bool on_pool) override;
  void send(Stage& from, PacketRef packet) override;
  void give_credits(Stage& to, std::int64_t count) override;
  void run_body(CallRef body) override;
  bool one_at_a_time() const override { return false; }

 private:
  struct Graph;
  std::function<void()> waited_for(std::function<void()> work);
  void run_on_pool(Stage& stage);

  std::unique_ptr<Graph> graph_;
  ElasticPool& pool_;
  const ElasticPool::ClientRef at_pool_ = std::make_shared<ElasticPool::Client>();
  WorkerThreads& workers_;
};

// Lets TBB have `threads` workers. TBB allows what its most modest live setting says; this one only ever asks for more than
// TBB's own default, so that a host application's TBB is not throttled. Process-wide. One thread at a time.
class TbbThreads {
 public:
  TbbThreads();
  ~TbbThreads();
  void ensure(std::int64_t threads);

 private:
  struct Control;
  std::unique_ptr<Control> control_;
  std::size_t ensured_ = 0;
};

}  // namespace penstock::exec
