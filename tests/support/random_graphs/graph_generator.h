// Draws random pipelines: what they are (for the model) and how they are to be run (for the library).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/list_model.h"
#include "tests/support/random_graphs/draw.h"
#include "tests/support/random_graphs/how.h"

namespace random_graphs {

struct Graph {
  std::vector<model::Op> ops;  // a source first
  std::vector<How> how;        // one per op
  bool arbitrary = false;      // some op need not keep the order

  // Whether passes are ended early or are not wanted at all (take, repeat): how much is read then for nothing, nobody
  // can say.
  bool cuts_passes() const;

  // One line: "range(9) repeat(-1) take(4)".
  std::string text() const;
};

// The same seed gives the same graph. It ends, and stays within the limits.
Graph draw_graph(std::uint64_t seed, const Limits& limits = {});

}  // namespace random_graphs
