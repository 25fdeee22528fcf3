// Draws random pipelines: what they are (for the model) and how they are to be run (for the library).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/list_model.h"

namespace random_graphs {

// How an op is written, which never changes what it gives.
struct How {
  std::int64_t parallelism = 0;  // 0: AUTOTUNE. prefetch: elements
  int blocks = -1;               // MapOptions::blocks; -1: left open
  std::int64_t jitter_us = 0;    // some calls sleep for up to this long
  std::int64_t reserves = 0;     // bytes that a call asks the budget for
  std::uint64_t seed = 0;        // of a shuffle
  bool reshuffle = true;         // of a shuffle
  bool with_context = false;     // map: f(const T&, Context&) instead of f(T)
  bool as_dataset = false;       // flat_map: returns a Dataset instead of a vector
  bool as_factory = false;       // from_generator: a factory instead of a copyable callable
  bool applied = false;          // put on by apply()
  bool hinted = false;           // own_elementwise: tells its results' bytes beforehand
  bool any_fault = false;        // fails by whatever can be thrown
};

struct Graph {
  std::vector<model::Op> ops;  // a source first
  std::vector<How> how;        // one per op
  bool arbitrary = false;      // some op need not keep the order

  // Whether passes are ended early or are not wanted at all (take, repeat): how much is read then for nothing, nobody can say.
  bool cuts_passes() const;

  // One line: "range(9) repeat(-1) take(4)".
  std::string text() const;
};

struct Limits {
  std::int64_t ops = 8;
  std::int64_t elements = 400;  // delivered
  std::int64_t work = 3'000;    // read from the source
  bool jitter = true;
  bool faults = false;           // most functions fail now and then, each by whatever can be thrown
};

// The same seed gives the same graph. It ends, and stays within the limits.
Graph draw_graph(std::uint64_t seed, const Limits& limits = {});

}  // namespace random_graphs
