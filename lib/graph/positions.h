// Positions: a dataset whose elements can be made in any order, and the order in which a pass visits them. Whatever it
// is made of is one stage, with nothing buffered: ops behind a source, and ops of several such inputs, work on numbers
// before anything is made.
//
//   Positions files = graph::positions_of(source);
//   auto shuffled = graph::positions_behind(last, shuffle, files);
//   auto both = concatenate.over_positions({*shuffled, more});  // a MergesPositions
//
// The line is the first function of a user: what it does to a number of elements is not known before it has run.
#pragma once

#include <penstock/graph.h>
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
// The first `count` of a pass, or as many as there are.
std::unique_ptr<IndexSequence> first_positions(std::unique_ptr<IndexSequence> order, std::int64_t count);

struct Positions {
  std::shared_ptr<const IndexedSource> source;
  std::function<std::unique_ptr<IndexSequence>()> order;  // a new one for each run
  bool is_fixed = true;  // each pass visits the same ones in the same order, and at() and find() tell which
  // Source and ops are the library's: to make an element takes next to nothing and never fails, and an order has
  // exactly size() positions, as many in each pass. A user's source may read files, or make elements of another type
  // than it says.
  bool is_plain = true;
  bool is_in_turn = false;  // the i-th position is i
};

// All of a source, in its own order. `is_plain`: it is one of the library's.
Positions positions_of(std::shared_ptr<const IndexedSource> source, bool is_plain = true);

// An op that makes one such dataset of several, or of one. Errors would be counted otherwise, and named worse, than by
// stages, so it is asked for plain ones only.
class MergesPositions {
 public:
  // nullopt: not of these.
  virtual std::optional<Positions> over_positions(std::vector<Positions> inputs) const = 0;

 protected:
  ~MergesPositions() = default;
};

// What a merge makes of its inputs. nullopt: it is none that can, or one of them is not plain.
std::optional<Positions> merged_positions(const Node& merge, std::vector<Positions> inputs);

// Behind the node that follows, which `owner` keeps. nullopt: it has not this input alone, or does more than select,
// order and number.
std::optional<Positions> positions_behind(const NodeRef& owner, const Node& node, const Positions& input);

// All that lies before the node, and the node itself. nullopt: something else is among it.
std::optional<Positions> positions_up_to(const NodeRef& node);

}  // namespace penstock::graph
