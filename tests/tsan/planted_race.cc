// Does ThreadSanitizer see through oneTBB? Bodies of a parallel_for and of a flow-graph node add to a
// counter: with PLANTED_RACE without any synchronisation, which must be reported, else atomically,
// which must not. Without this pair, "no report" could mean "TSan is blind".
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

#ifdef PLANTED_RACE
using Counter = long;
#else
using Counter = std::atomic<long>;
#endif

constexpr int steps = 2'000;

// Long enough that one thread cannot run all of them before a second one wakes up.
void body(Counter& counter) {
  ++counter;
  std::this_thread::sleep_for(std::chrono::microseconds(20));
}

void count_in_parallel_for(Counter& counter) {
  tbb::parallel_for(0, steps, [&](int) { body(counter); });
}

void count_in_flow_graph(Counter& counter) {
  tbb::flow::graph graph;
  tbb::flow::function_node<int> node(graph, tbb::flow::unlimited, [&](int) { body(counter); });
  for (int i = 0; i < steps; ++i) node.try_put(i);
  graph.wait_for_all();
}

// What must stay silent: a plain variable handed on along an edge, in order.
long sum_along_an_edge() {
  long sum = 0;
  tbb::flow::graph graph;
  tbb::flow::function_node<int, int> twice(graph, tbb::flow::unlimited, [](int v) { return 2 * v; });
  tbb::flow::function_node<int> add(graph, tbb::flow::serial, [&](int v) { sum += v; });
  tbb::flow::make_edge(twice, add);
  for (int i = 0; i < steps; ++i) twice.try_put(i);
  graph.wait_for_all();
  return sum;
}

}  // namespace

int main(int argc, char**) {
  const tbb::global_control four_threads(tbb::global_control::max_allowed_parallelism, 4);
  Counter counter{0};
  if (argc > 1) {
    count_in_flow_graph(counter);
  } else {
    count_in_parallel_for(counter);
  }
  std::printf("counted %ld, summed %ld\n", static_cast<long>(counter), sum_along_an_edge());
}
