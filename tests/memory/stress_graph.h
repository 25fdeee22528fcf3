// A random pipeline over payloads, and how much memory it may take.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <deque>
#include <string>

#include "tests/memory/ops.h"
#include "tests/memory/payload.h"
#include "tests/support/random.h"

namespace memory_stress {

// One pipeline with the books of its one run. Not movable: its ops refer to it.
class StressGraph {
 public:
  // All sizes are foretold, or none is. A chain, a tree of several chains, or a chain with datasets inside, whose sizes
  // nobody foretells.
  enum class Shape { chain, tree, nest };
  StressGraph(std::uint64_t seed, bool hinted, Shape shape);
  StressGraph(const StressGraph&) = delete;
  StressGraph& operator=(const StressGraph&) = delete;

  const ps::Dataset<Payload>& data() const { return data_; }
  std::int64_t budget() const { return budget_; }
  const Tally& tally() const { return tally_; }
  std::string text() const;

  // After the run, from the sizes that were really made:
  // max(M, sum of what the ops must hold) + one element per stage, as decisions and lib/README.md say.
  std::int64_t bound() const;
  // What calls of stages without a hint may hold beyond what was reserved for them.
  std::int64_t most_in_flight() const;
  // By how much the books may be wrong of lists that leave in parts: each of their results is taken to hold the same.
  // In a chain they leave at once; in front of a merge they wait for room.
  std::int64_t most_in_parts() const;
  // Of elements that datasets may have ready, the cycle's and those that are open ahead: their places are on the books.
  std::int64_t places_in_nests() const { return places_in_nests_; }
  // One element as the consumer holds it between taking it and letting it go.
  std::int64_t largest_delivered() const;

 private:
  // One stage of the engine, as far as its memory goes.
  struct Part {
    const Sizes* sizes;        // of what is held or given
    std::size_t required = 1;  // elements that it must hold
    std::size_t one = 1;       // elements that make up one of its results
    std::int64_t parallelism = 0;
  };

  ps::Dataset<Payload> source(std::int64_t count);
  Sizes& add_op(const Behaviour& behaviour);
  Behaviour draw_behaviour();
  void add_input();
  void add_step();
  void add_resize();
  void add_split();
  void add_filter();
  void add_merge();
  void add_batch_and_unbatch();
  void add_shuffle();
  void add_nest();

  penstock::test::Random random_;
  const bool hinted_;
  const std::int64_t budget_;
  Tally tally_;
  std::deque<Sizes> sizes_;
  std::vector<Part> parts_;
  std::int64_t places_in_nests_ = 0;  // bytes
  ps::Dataset<Payload> data_;
};

}  // namespace memory_stress
