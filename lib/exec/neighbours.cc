#include "lib/exec/neighbours.h"

#include <algorithm>

#include "lib/exec/sizes.h"
#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

std::int64_t Neighbours::memory_claimed_behind(std::size_t stage) const {
  std::int64_t sum = 0;
  for (std::size_t i = edges_.out_of(stage).to; i != kOutlet; i = edges_.out_of(i).to)
    sum += stages_[i].signs->claim.load();
  return sum;
}

bool Neighbours::is_empty_behind(std::size_t stage) const {
  for (Edge edge = edges_.out_of(stage); edge.to != kOutlet; edge = edges_.out_of(edge.to)) {
    if (!stages_[edge.to].signs->is_empty(edge.port)) return false;
    if (!stages_[edge.to].traits->plan.passes_memory_on) return true;
  }
  return at_outlet_.load(std::memory_order_relaxed) == 0;
}

bool Neighbours::is_awaited(std::size_t stage) const {
  for (Edge edge = edges_.out_of(stage); edge.to != kOutlet; edge = edges_.out_of(edge.to)) {
    const auto& ports = stages_[edge.to].signs->ports;
    if (ports.size() == 0 || ports.is_empty(edge.port)) continue;
    if (ports.first_empty() < ports.size()) return false;
  }
  return true;
}

bool Neighbours::feeds_one_that_waits(std::size_t stage) const {
  for (std::size_t i = stage; i != kOutlet; i = edges_.out_of(i).to) {
    if (waits(*stages_[i].traits, *stages_[i].signs)) return true;
  }
  return false;
}

bool Neighbours::brings_soon(std::size_t stage) const {
  const auto is = [](const std::atomic<bool>& flag) { return flag.load(std::memory_order_relaxed); };
  const auto only_hands_on = [&](std::size_t i) { return is(stages_[i].signs->cheap) && !is(stages_[i].signs->busy); };
  while (only_hands_on(stage) && !edges_.is_source(stage)) stage = next_up(stage);
  return is(stages_[stage].signs->cheap) && is(stages_[stage].signs->busy);
}

bool Neighbours::only_passes_on(std::size_t stage) const {
  return stages_[stage].traits->plan.passes_memory_on && !edges_.is_source(stage);
}

// At a merge, to an input that it lacks.
std::size_t Neighbours::next_up(std::size_t stage) const {
  const auto inputs = edges_.into(stage);
  const auto& ports = stages_[stage].signs->ports;
  const std::size_t lacking = ports.first_empty();
  return inputs[lacking < ports.size() ? lacking : 0].from;
}

bool Neighbours::is_watched(std::size_t stage) const {
  bool waits = false;
  for_each_nearest_before(
      stage, [&](std::size_t nearest) { waits = waits || stages_[nearest].signs->waits_for_memory.load(); });
  return waits;
}

// The only input that a merge wants: what comes of others is not empty for those before it. Else as many as inputs, or
// more.
std::size_t Neighbours::only_wanted(std::size_t stage) const {
  const std::int64_t wanted = stages_[stage].signs->ports.wanted;
  return wanted >= 0 ? static_cast<std::size_t>(wanted) : edges_.stages();
}

}  // namespace penstock::exec
