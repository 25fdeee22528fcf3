// Which positions of a source an element of a pipeline is made of, where that is arithmetic.
#pragma once

#include <cstdint>

#include "lib/graph/node.h"
#include "lib/graph/positions.h"

namespace penstock::graph {

// The elements of a pipeline are made of `each` positions of their own, in their order.
struct MadeOf {
  NodeRef last;         // that only selects and orders positions
  Positions positions;  // up to it
  std::int64_t each = 1;
  const Node* stranger = nullptr;  // the op of which that is not known: nothing else of this is meant then
};

// Known behind sources that can be indexed, what selects or orders them, maps that keep the order, batch() and
// prefetch(). Nothing is read.
MadeOf made_of(const NodeRef& node);

}  // namespace penstock::graph
