// TbbLauncher: the stages of a run as a oneTBB flow graph, one cluster of nodes per stage.
//
//   packet --> [ in: multifunction, lightweight ] stage.receive()
//   token ---> [ exec: multifunction, lightweight ] stage.run_token(); its port 0 is the edge to the next `in`
//   credits -> [ credit: function, lightweight  ] stage.add_credits()
//
// Lightweight nodes run inside the sender's try_put, so an edge costs some 10 ns. Tokens run on threads of ours and are
// counted: blocking ones on the elastic pool, others on the compute pool, whose thread enters the run's arena for it,
// so that a parallel loop in a user's function has that arena's width. No run waits for a worker of TBB's: there may be
// none (compute_pool.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lib/exec/compute_pool.h"
#include "lib/exec/elastic_pool.h"
#include "lib/exec/launcher.h"
#include "lib/exec/work_count.h"
#include "lib/exec/worker_threads.h"

namespace penstock::exec {

class TbbLauncher final : public Launcher, private ComputePool::Client {
 public:
  TbbLauncher(std::int64_t permits, ComputePool& compute, ElasticPool& pool, WorkerThreads& workers);
  ~TbbLauncher() override;  // waits, then takes the graph down

  void connect(const std::vector<Stage*>& stages, const Edges& edges, Outlet& outlet) override;
  void launch(Stage& stage, bool on_pool) override;
  void send(const Edge& edge, PacketRef packet) override;
  void give_credits(const Edge& edge, std::int64_t count) override;
  // Meanwhile more tokens are out than the arena has places.
  void token_goes_without_permit() noexcept override { without_permit_.fetch_add(1); }
  void token_ends_without_permit() noexcept override {
    without_permit_.fetch_sub(1);
    compute_.token_ends();
  }
  void token_ends() override { compute_.token_ends(); }
  bool try_on_pool(std::function<void()> work) override;
  bool pool_is_wanted() const noexcept override { return pool_.is_wanted(); }
  bool run_waiting_here() override;
  bool lacks_threads() const noexcept override { return compute_.lacks_threads(); }
  bool wait_for(std::chrono::nanoseconds time) override { return out_.wait_for(time); }
  void run_body(CallRef body) override;
  bool one_at_a_time() const override { return false; }

 private:
  struct Graph;
  std::function<void()> waited_for(std::function<void()> work);
  void run_here(Stage& stage) override;
  void run_in_arena(Stage& first);
  void run_on_pool(Stage& stage);

  std::unique_ptr<Graph> graph_;
  ComputePool& compute_;
  ElasticPool& pool_;
  const ElasticPool::ClientRef at_pool_ = std::make_shared<ElasticPool::Client>();
  WorkerThreads& workers_;
  std::atomic<int> without_permit_{0};  // tokens that are not on the elastic pool either
  std::atomic<int> in_arena_{0};        // threads with tokens, those that found no place there included
  WorkCount out_;                       // tokens and other work; held while a node is used
};

}  // namespace penstock::exec
