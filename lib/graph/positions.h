// Positions: a dataset whose elements can be made in any order, and the order in which a pass visits them. Whatever it
// is made of is one stage, with nothing buffered: ops behind a source, and ops of several such inputs, work on numbers
// before anything is made.
//
//   Positions files = graph::positions_of(source);
//   files = graph::behind(files, shuffle);
//   auto both = concatenate.over_positions({files, more});  // a MergesPositions
//
// The line is the first function of a user: what it does to a number of elements is not known before it has run.
#pragma once

#include <penstock/op.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace penstock::graph {

// Of a source that never ends: so many that nobody sees the end, and so few that sums of two do not overflow.
inline constexpr std::int64_t kEndless = std::int64_t{1} << 62;

std::unique_ptr<IndexSequence> all_positions(std::int64_t size);

struct Positions {
  std::shared_ptr<const IndexedSource> source;
  std::function<std::unique_ptr<IndexSequence>()> order;  // a new one for each run
  bool is_fixed = true;  // each pass visits the same ones in the same order, and at() tells the i-th
};

// All of a source, in its own order.
Positions positions_of(std::shared_ptr<const IndexedSource> source);

// Behind an op that only selects and orders. nullopt: it cannot do that with positions.
std::optional<Positions> behind(const Positions& input, const std::shared_ptr<const StreamOp>& op);

// An op that makes one such dataset of several, or of one.
class MergesPositions {
 public:
  // nullopt: not of these.
  virtual std::optional<Positions> over_positions(std::vector<Positions> inputs) const = 0;

 protected:
  ~MergesPositions() = default;
};

}  // namespace penstock::graph
