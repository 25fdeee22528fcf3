// Rewrites: what is changed of a pipeline before it runs, so that less work gives the same. Elements, their order,
// random numbers, errors with their places, counts of both and checkpoints are those of the pipeline as it is written.
//
//   std::cout << ps::describe(train, ps::as_run);        // what a run of it does; numbers are those of describe(train)
//   auto run = train.start({.rewrites = {.map_fusion = false}});
//   std::cout << ps::to_text(run.explain());             // has a line for each change
//
// All are on unless a run says otherwise. What a checkpoint is taken with, and resumed with, may differ. Datasets
// inside an interleave are run as they are written.
#pragma once

#include <string>

#include <penstock/graph.h>

#pragma GCC visibility push(default)

namespace penstock {

template <class T> class Dataset;

struct Rewrites {
  // take(-1), skip(0) and shard(1, 0) are left out: whatever comes to them goes on.
  bool noop_elimination = true;
  // take, skip and shard go before maps that cannot fail (MapOptions::cannot_fail) and keep the order, down to the
  // source's positions where only such maps are between: the function is not called for what they leave out.
  bool selection_pushdown = true;
  // A map and the one right behind it share calls, some elements at a time, with one buffer and one hand-over less:
  // where both say {.blocks = false}, keep the order, leave their parallelism to AUTOTUNE and have no bytes_hint. What
  // the first one gives is not reserved then, but counted when it is there: of up to eight elements at a time, which
  // leave together, and of one where they turned out to be slow or large. Nor is a call
  // broken off and tried again by Context::reserve, which only counts there.
  bool map_fusion = true;
  // The same of a map and the filter right behind it.
  bool map_and_filter_fusion = true;
};

// The pipeline is run as it is written.
constexpr Rewrites no_rewrites() noexcept { return {false, false, false, false}; }

// For describe(): the pipeline as a run does it.
struct AsRun {};
inline constexpr AsRun as_run{};

namespace graph {
std::string describe(const NodeRef& node, AsRun, const Rewrites& rewrites);
}

template <class T> std::string describe(const Dataset<T>& dataset, AsRun, const Rewrites& rewrites = {}) {
  return graph::describe(dataset.node(), as_run, rewrites);
}

}  // namespace penstock

#pragma GCC visibility pop
