#include "lib/exec/tbb_launcher.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/exec/outlet.h"
#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {

namespace flow = oneapi::tbb::flow;

struct TokenMessage {};
using InNode = flow::multifunction_node<PacketRef, std::tuple<flow::continue_msg>, flow::lightweight>;
using ExecNode = flow::multifunction_node<TokenMessage, std::tuple<PacketRef>, flow::lightweight>;
using CreditNode = flow::function_node<std::int64_t, flow::continue_msg, flow::lightweight>;
using OutletNode = flow::function_node<PacketRef, flow::continue_msg, flow::lightweight>;

// This thread is in the arena of a run whose token it runs.
thread_local bool is_in_arena = false;

class ArenaScope {
 public:
  ArenaScope() noexcept : outer_(std::exchange(is_in_arena, true)) {}
  ~ArenaScope() { is_in_arena = outer_; }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  const bool outer_;
};

// TBB's workers come into the arena only for parallel loops in users' functions: their CPU time is the run's, too.
class WorkerObserver final : public oneapi::tbb::task_scheduler_observer {
 public:
  WorkerObserver(oneapi::tbb::task_arena& arena, WorkerThreads& workers)
      : task_scheduler_observer(arena), workers_(workers) {
    observe(true);
  }
  ~WorkerObserver() override { observe(false); }
  WorkerObserver(const WorkerObserver&) = delete;
  WorkerObserver& operator=(const WorkerObserver&) = delete;
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) workers_.join(WorkerThreads::Role::worker);
  }

 private:
  WorkerThreads& workers_;
};

int width(std::int64_t permits) { return static_cast<int>(std::max<std::int64_t>(permits, 1)); }

// All but the places for which TBB may have workers: of those it has not got it would only warn on stderr.
unsigned reserved(std::int64_t permits) {
  using oneapi::tbb::global_control;
  const auto workers =
      static_cast<std::int64_t>(global_control::active_value(global_control::max_allowed_parallelism)) - 1;
  return static_cast<unsigned>(std::max<std::int64_t>(width(permits) - workers, 1));
}

// A lightweight body must be noexcept, or TBB silently makes a task of it.
struct Cluster {
  Cluster(flow::graph& graph, Stage& stage, std::size_t inputs)
      : exec(graph, flow::unlimited,
             [&stage](const TokenMessage&, ExecNode::output_ports_type&) noexcept { stage.run_token(false); }),
        credit(graph, flow::unlimited, [&stage](std::int64_t count) noexcept -> flow::continue_msg {
          stage.add_credits(count);
          return {};
        }) {
    for (std::size_t port = 0; port < inputs; ++port)
      in.push_back(std::make_unique<InNode>(
          graph, flow::unlimited, [&stage, port](const PacketRef& packet, InNode::output_ports_type&) noexcept {
            stage.receive(port, std::move(packet->slots));
          }));
  }

  std::vector<std::unique_ptr<InNode>> in;  // by port
  ExecNode exec;
  CreditNode credit;
};

}  // namespace

// Order of destruction: wait (in ~TbbLauncher), then nodes, then the graph, then the arena.
struct TbbLauncher::Graph {
  Graph(std::int64_t permits, WorkerThreads& workers)
      : arena(width(permits), reserved(permits)), observer(arena, workers) {
    arena.execute([this] { graph.emplace(); });  // a graph belongs to the arena it is born in
  }

  oneapi::tbb::task_arena arena;
  WorkerObserver observer;
  std::optional<flow::graph> graph;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::unique_ptr<OutletNode> outlet;
};

TbbLauncher::TbbLauncher(std::int64_t permits, ComputePool& compute, ElasticPool& pool, WorkerThreads& workers)
    : graph_(std::make_unique<Graph>(permits, workers)), compute_(compute), pool_(pool), workers_(workers) {}

TbbLauncher::~TbbLauncher() { out_.wait(); }

void TbbLauncher::connect(const std::vector<Stage*>& stages, const Edges& edges, Outlet& outlet) {
  flow::graph& graph = *graph_->graph;
  for (std::size_t i = 0; i < stages.size(); ++i)
    graph_->clusters.push_back(std::make_unique<Cluster>(graph, *stages[i], edges.into(i).size()));
  graph_->outlet = std::make_unique<OutletNode>(graph, flow::unlimited,
                                                [&outlet](const PacketRef& packet) noexcept -> flow::continue_msg {
                                                  outlet.receive(*packet);
                                                  return {};
                                                });
  for (std::size_t i = 0; i < stages.size(); ++i) {
    auto& port = flow::output_port<0>(graph_->clusters[i]->exec);
    const Edge& edge = edges.out_of(i);
    if (edge.to != kOutlet) {
      flow::make_edge(port, *graph_->clusters[edge.to]->in[edge.port]);
    } else {
      flow::make_edge(port, *graph_->outlet);
    }
  }
}

void TbbLauncher::launch(Stage& stage, bool on_pool) {
  out_.begin();
  try {
    if (on_pool) {
      pool_.submit([this, &stage] { run_on_pool(stage); }, at_pool_);  // small enough to lie inside the std::function
    } else {
      compute_.submit(*this, stage);
    }
  } catch (...) {  // no memory for a line in a list: it is in none
    out_.end();
    throw;
  }
}

// Into the arena once for all tokens that come one after the other: that costs as much as a small group. Calls that
// were found to wait keep their places there, though they have no CPU permit any more: who comes beside them must not
// wait for one.
void TbbLauncher::run_here(Stage& first) {
  workers_.join(WorkerThreads::Role::worker);
  const bool may_be_full = in_arena_.fetch_add(1) >= graph_->arena.max_concurrency() && without_permit_.load() > 0;
  if (may_be_full) {
    first.run_token(false);
  } else {
    graph_->arena.execute([this, &first] { run_in_arena(first); });
  }
  in_arena_.fetch_sub(1);
  out_.end();
}

bool TbbLauncher::run_waiting_here() {
  Stage* const stage = compute_.take_any(*this);
  if (stage != nullptr) run_here(*stage);
  return stage != nullptr;
}

void TbbLauncher::run_in_arena(Stage& first) {
  const ArenaScope scope;
  Stage* stage = &first;
  graph_->clusters[stage->traits().index]->exec.try_put(TokenMessage{});
  while ((stage = compute_.take(*this)) != nullptr) {
    out_.end();  // of the token before: this one counts now
    graph_->clusters[stage->traits().index]->exec.try_put(TokenMessage{});
  }
}

void TbbLauncher::run_on_pool(Stage& stage) {
  workers_.join(WorkerThreads::Role::worker);
  stage.run_token(true);
  out_.end();
}

bool TbbLauncher::try_on_pool(std::function<void()> work) {
  auto waited = waited_for(std::move(work));
  const bool taken = pool_.try_submit(waited);
  if (!taken) out_.end();
  return taken;
}

// Has to run, or nobody stops waiting for it.
std::function<void()> TbbLauncher::waited_for(std::function<void()> work) {
  out_.begin();
  return [this, work = std::move(work)] {
    workers_.join(WorkerThreads::Role::worker);
    work();
    out_.end();
  };
}

void TbbLauncher::send(const Edge& edge, PacketRef packet) {
  flow::output_port<0>(graph_->clusters[edge.from]->exec).try_put(packet);
}

void TbbLauncher::give_credits(const Edge& edge, std::int64_t count) {
  graph_->clusters[edge.from]->credit.try_put(count);
}

// Isolated, or a parallel loop inside a user's function would pick up parts of another call's loop and nest them on its
// stack.
void TbbLauncher::run_body(CallRef body) {
  if (!is_in_arena) return body();
  oneapi::tbb::this_task_arena::isolate([body] { body(); });
}

}  // namespace penstock::exec
