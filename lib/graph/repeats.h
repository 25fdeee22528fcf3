// RepeatsAround: the repeats before and behind an op, and what they make of it: how often it is opened, each time for
// one pass. For ops that count their openings as TensorFlow does (traits.h, CountsOpenings).
//
//   RepeatsAround around;
//   around = around.with({.count = 2}).with({.count = 2, .opens_again = true});   // shuffle.repeat(2).repeat(2)
//   around.in_an_epoch()   ->  5
#pragma once

#include <penstock/graph.h>
#include <penstock/op.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace penstock::graph {

class RepeatsAround {
 public:
  struct Repeat {
    std::int64_t count = 1;    // -1: for ever
    bool opens_again = false;  // its input, once more when it has had all its passes: it learns from its end only then
  };

  // Counts of those before it, the nearest to its source first; -1: for ever.
  explicit RepeatsAround(std::vector<std::int64_t> before = {}) : counts_(std::move(before)), before_(counts_.size()) {}
  // One more behind all others.
  RepeatsAround with(const Repeat& repeat) const;

  // How often it is opened in an epoch before the pass that this one of its source belongs to (Stamp::pass). Modulo
  // 2^64, as all numbers here.
  std::uint64_t openings_before(std::uint32_t pass) const { return openings_in(passes_before(pass)); }
  // In a whole epoch; nullopt: it has no end.
  std::optional<std::uint64_t> in_an_epoch() const;

 private:
  std::uint64_t passes_before(std::uint32_t pass) const;
  std::uint64_t openings_in(std::uint64_t passes) const;

  std::vector<std::int64_t> counts_;  // of all, the nearest to the source first
  std::size_t before_;                // so many of them come before the op
  std::vector<bool> opens_again_;     // of the others
};

// Counts of the repeats up to the node, along first inputs, the nearest to the source first. Without those of one pass,
// of which nobody takes note.
std::vector<std::int64_t> repeats_up_to(const Node& node);

// The same graph, where each op that counts its openings has been told of a repeat that comes behind the node. Throws
// Error(invalid_argument) where they could not be counted.
NodeRef behind_which_is_repeated(const NodeRef& node, std::int64_t count);

// The same graph for one plain loop: null where no op counts its openings.
NodeRef for_one_loop(const NodeRef& node);
// Of a graph that for_one_loop() gave: the loop is over. The pass of the last element that it had; none: it had none.
void loop_is_over(const NodeRef& node, std::optional<std::uint32_t> last_pass, bool at_its_end);

}  // namespace penstock::graph
