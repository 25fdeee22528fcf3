// How an op is written, beside what it means.
#pragma once

#include <cstdint>

namespace random_graphs {

// How an op is written, which never changes what it gives.
struct How {
  std::int64_t parallelism = 0;  // 0: AUTOTUNE. prefetch: elements
  int blocks = -1;               // MapOptions::blocks; -1: left open
  std::int64_t jitter_us = 0;    // some calls sleep for up to this long
  std::int64_t reserves = 0;     // bytes that a call asks the budget for
  std::uint64_t seed = 0;        // of a shuffle
  bool reshuffle = true;         // of a shuffle
  bool as_tensorflow = false;    // its order, which depends on what follows: no tape tells it to the model
  bool with_context = false;     // map: f(const T&, Context&) instead of f(T)
  bool as_dataset = false;       // flat_map: returns a Dataset instead of a vector
  bool as_indexed = false;       // from_vector: from_indexed, over an object with size() and at()
  bool as_factory = false;       // from_generator: a factory instead of a copyable callable
  bool applied = false;          // put on by apply()
  bool hinted = false;           // own_elementwise: tells its results' bytes beforehand
  bool cannot_fail = false;      // map: MapOptions::cannot_fail
  bool any_fault = false;        // fails by whatever can be thrown
};

}  // namespace random_graphs
