// The order in which a pass visits an indexable source before any op changes it: 0, 1, 2, ... size
// - 1.
//
//   std::unique_ptr<IndexSequence> order = graph::all_positions(files.size());
//   order = shuffle.over_index(std::move(order));
#pragma once

#include <penstock/op.h>

#include <cstdint>
#include <memory>

namespace penstock::graph {

// Of a source that never ends: so many that nobody sees the end, and so few that sums of two do not overflow.
inline constexpr std::int64_t kEndless = std::int64_t{1} << 62;

std::unique_ptr<IndexSequence> all_positions(std::int64_t size);

}  // namespace penstock::graph
