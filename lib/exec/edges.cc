#include "lib/exec/edges.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace penstock::exec {
namespace {

void check(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace

Edges::Edges(std::vector<Edge> out) : out_(std::move(out)), first_(out_.size() + 1, 0), distance_(out_.size()) {
  for (std::size_t stage = 0; stage < out_.size(); ++stage) {
    const bool is_last = stage + 1 == out_.size();
    check(out_[stage].from == stage, "an edge is not where its stage is");
    check(is_last ? out_[stage].to == kOutlet : out_[stage].to > stage && out_[stage].to < out_.size(),
          "stages are not in post-order");
    if (!is_last) in_.push_back(out_[stage]);
  }
  std::ranges::sort(in_, {}, [](const Edge& edge) { return std::pair(edge.to, edge.port); });
  for (const Edge& edge : in_) ++first_[edge.to + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::size_t> first_upstream(out_.size());
  for (std::size_t stage = 0; stage < out_.size(); ++stage) {
    std::size_t expected = stage;  // the feeder of the last port is the stage right before, and so on
    const auto inputs = into(stage);
    for (std::size_t port = inputs.size(); port-- > 0;) {
      check(inputs[port].port == port, "the ports of a stage are not 0, 1, ...");
      check(expected > 0 && inputs[port].from == expected - 1, "stages are not in post-order");
      expected = first_upstream[inputs[port].from];
    }
    first_upstream[stage] = expected;
  }
  for (std::size_t stage = out_.size(); stage-- > 0;)
    distance_[stage] = is_last(stage) ? 0 : distance_[out_[stage].to] + 1;
}

Edges Edges::chain(std::size_t stages) {
  std::vector<Edge> out;
  for (std::size_t stage = 0; stage < stages; ++stage) out.push_back({stage, stage + 1 < stages ? stage + 1 : kOutlet});
  return Edges(std::move(out));
}

std::span<const Edge> Edges::into(std::size_t stage) const noexcept {
  return std::span(in_).subspan(first_[stage], first_[stage + 1] - first_[stage]);
}

}  // namespace penstock::exec
