// Edges: which stage feeds which. The only place that knows; whoever goes from one stage to another goes along these
// (Neighbours, launchers).
//
// Stages are numbered in post-order: those that feed a stage have lower numbers, the last one feeds the outlet, and all
// that lies upstream of a stage has the numbers right below its own. In a chain each stage feeds the next one, by port
// 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace penstock::exec {

// In place of a stage: where the consumer takes results from.
inline constexpr std::size_t kOutlet = std::numeric_limits<std::size_t>::max();

struct Edge {
  std::size_t from = 0;
  std::size_t to = kOutlet;
  std::size_t port = 0;  // which of the inputs of `to`
};

// Thread safety: never changed.
class Edges {
 public:
  Edges() = default;
  // The one that leaves each stage, by its number. Throws std::invalid_argument where that is no tree in post-order, or
  // a stage's ports are not 0, 1, ...
  explicit Edges(std::vector<Edge> out);
  static Edges chain(std::size_t stages);

  std::size_t stages() const noexcept { return out_.size(); }
  const Edge& out_of(std::size_t stage) const noexcept { return out_[stage]; }
  std::span<const Edge> into(std::size_t stage) const noexcept;  // by port
  bool is_source(std::size_t stage) const noexcept { return first_[stage] == first_[stage + 1]; }
  bool is_last(std::size_t stage) const noexcept { return out_[stage].to == kOutlet; }
  // How many stages lie between it and the outlet.
  std::size_t distance(std::size_t stage) const noexcept { return distance_[stage]; }

 private:
  std::vector<Edge> out_;
  std::vector<Edge> in_;            // by stage and port
  std::vector<std::size_t> first_;  // of each stage, and one more: where its edges begin in in_
  std::vector<std::size_t> distance_;
};

}  // namespace penstock::exec
