#include "lib/exec/tbb_launcher.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/exec/outlet.h"
#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {

namespace flow = oneapi::tbb::flow;

struct Token {};
using InNode = flow::multifunction_node<PacketRef, std::tuple<flow::continue_msg>, flow::lightweight>;
using ExecNode = flow::multifunction_node<Token, std::tuple<PacketRef>>;
using CreditNode = flow::function_node<std::int64_t, flow::continue_msg, flow::lightweight>;
using OutletNode = flow::function_node<PacketRef, flow::continue_msg, flow::lightweight>;

// The arena whose task this thread is running, if it is one of our workers.
thread_local const void* worker_of = nullptr;

class WorkerScope {
 public:
  explicit WorkerScope(const void* arena) noexcept : outer_(std::exchange(worker_of, arena)) {}
  ~WorkerScope() { worker_of = outer_; }
  WorkerScope(const WorkerScope&) = delete;
  WorkerScope& operator=(const WorkerScope&) = delete;

 private:
  const void* outer_;
};

// This thread waits for a run's end and runs its tokens meanwhile: it is the user's.
thread_local bool is_guest = false;

class GuestScope {
 public:
  GuestScope() noexcept : outer_(std::exchange(is_guest, true)) {}
  ~GuestScope() { is_guest = outer_; }
  GuestScope(const GuestScope&) = delete;
  GuestScope& operator=(const GuestScope&) = delete;

 private:
  const bool outer_;
};

// A lightweight body must be noexcept, or TBB silently makes a task of it.
struct Cluster {
  Cluster(flow::graph& graph, const void* arena, Stage& stage, WorkerThreads& workers)
      : in(graph, flow::unlimited,
           [&stage](const PacketRef& packet, InNode::output_ports_type&) noexcept { stage.receive(std::move(packet->slots)); }),
        exec(graph, flow::unlimited,
             [&stage, arena, &workers](const Token&, ExecNode::output_ports_type&) noexcept {
               const WorkerScope scope(arena);
               if (!is_guest) workers.join(WorkerThreads::Role::worker);
               stage.run_token(false);
             }),
        credit(graph, flow::unlimited, [&stage](std::int64_t count) noexcept -> flow::continue_msg {
          stage.add_credits(count);
          return {};
        }) {}

  InNode in;
  ExecNode exec;
  CreditNode credit;
};

}  // namespace

// Order of destruction: wait (in ~TbbLauncher), then nodes, then the graph, then the arena.
struct TbbLauncher::Graph {
  explicit Graph(std::int64_t slots) : arena(static_cast<int>(std::max<std::int64_t>(slots, 1)), 0) {
    arena.execute([this] { graph.emplace(); });  // a graph belongs to the arena it is born in
  }

  oneapi::tbb::task_arena arena;
  std::optional<flow::graph> graph;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::unique_ptr<OutletNode> outlet;
};

TbbLauncher::TbbLauncher(std::int64_t slots, ElasticPool& pool, WorkerThreads& workers)
    : graph_(std::make_unique<Graph>(slots)), pool_(pool), workers_(workers) {}

TbbLauncher::~TbbLauncher() { wait(); }

void TbbLauncher::wait() {
  const GuestScope scope;
  graph_->arena.execute([this] { graph_->graph->wait_for_all(); });
}

void TbbLauncher::connect(const std::vector<Stage*>& stages, Outlet& outlet) {
  flow::graph& graph = *graph_->graph;
  for (Stage* stage : stages) graph_->clusters.push_back(std::make_unique<Cluster>(graph, &graph_->arena, *stage, workers_));
  graph_->outlet = std::make_unique<OutletNode>(graph, flow::unlimited,
                                                [&outlet](const PacketRef& packet) noexcept -> flow::continue_msg {
                                                  outlet.receive(*packet);
                                                  return {};
                                                });
  for (std::size_t i = 0; i < stages.size(); ++i) {
    auto& port = flow::output_port<0>(graph_->clusters[i]->exec);
    if (i + 1 < stages.size()) {
      flow::make_edge(port, graph_->clusters[i + 1]->in);
    } else {
      flow::make_edge(port, *graph_->outlet);
    }
  }
}

void TbbLauncher::launch(Stage& stage, bool on_pool) {
  flow::graph& graph = *graph_->graph;
  ExecNode& exec = graph_->clusters[stage.index()]->exec;
  if (on_pool) {
    graph.reserve_wait();
    pool_.submit([this, &stage] { run_on_pool(stage); }, at_pool_);  // small enough to lie inside the std::function
  } else if (worker_of == &graph_->arena) {
    exec.try_put(Token{});
  } else {
    graph.reserve_wait();
    graph_->arena.enqueue([&exec, &graph] {
      exec.try_put(Token{});
      graph.release_wait();
    });
  }
}

void TbbLauncher::run_on_pool(Stage& stage) {
  flow::graph& graph = *graph_->graph;
  workers_.join(WorkerThreads::Role::worker);
  stage.run_token(true);
  graph.release_wait();  // the last touch: whoever waits may take everything down now
}

bool TbbLauncher::try_on_pool(std::function<void()> work) {
  auto waited = waited_for(std::move(work));
  const bool taken = pool_.try_submit(waited);
  if (!taken) graph_->graph->release_wait();
  return taken;
}

// Has to run, or wait() never returns.
std::function<void()> TbbLauncher::waited_for(std::function<void()> work) {
  flow::graph& graph = *graph_->graph;
  graph.reserve_wait();
  return [work = std::move(work), &graph, &workers = workers_] {
    workers.join(WorkerThreads::Role::worker);
    work();
    graph.release_wait();  // the last touch: whoever waits may take everything down now
  };
}

void TbbLauncher::send(Stage& from, PacketRef packet) {
  flow::output_port<0>(graph_->clusters[from.index()]->exec).try_put(packet);
}

void TbbLauncher::give_credits(Stage& to, std::int64_t count) { graph_->clusters[to.index()]->credit.try_put(count); }

// Isolated, or a parallel loop inside a user's function would pick up another of our tokens and nest it on its stack.
void TbbLauncher::run_body(CallRef body) {
  if (worker_of == nullptr) return body();
  oneapi::tbb::this_task_arena::isolate([body] { body(); });
}

struct TbbThreads::Control {
  explicit Control(std::size_t threads) : control(oneapi::tbb::global_control::max_allowed_parallelism, threads) {}
  oneapi::tbb::global_control control;
};

TbbThreads::TbbThreads() = default;
TbbThreads::~TbbThreads() = default;

// One more than the workers wanted: TBB counts the thread that waits. Never less than two, or a machine with one core makes no
// progress at all.
void TbbThreads::ensure(std::int64_t threads) {
  using oneapi::tbb::global_control;
  const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(threads, 1)) + 1;
  // TBB is asked for news only: the controller's thread may still be here when the process has ended and TBB's statics are gone.
  if (wanted <= ensured_) return;
  ensured_ = wanted;
  auto wider = std::make_unique<Control>(std::max(wanted, global_control::active_value(global_control::max_allowed_parallelism)));
  control_ = std::move(wider);
}

}  // namespace penstock::exec
