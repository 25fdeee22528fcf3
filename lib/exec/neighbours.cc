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
  for (std::size_t i = edges_.out_of(stage).to; i != kOutlet; i = edges_.out_of(i).to) {
    if (!stages_[i].signs->is_empty()) return false;
    if (!stages_[i].traits->plan.passes_memory_on) return true;
  }
  return at_outlet_.load(std::memory_order_relaxed) == 0;
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
  while (only_hands_on(stage) && !edges_.is_source(stage)) stage = edges_.into(stage).front().from;
  return is(stages_[stage].signs->cheap) && is(stages_[stage].signs->busy);
}

std::size_t Neighbours::nearest_that_reserves(std::size_t stage) const {
  while (stages_[stage].traits->plan.passes_memory_on && !edges_.is_source(stage))
    stage = edges_.into(stage).front().from;
  return stage;
}

bool Neighbours::is_watched(std::size_t stage) const {
  return std::ranges::any_of(edges_.into(stage), [this](const Edge& edge) {
    return stages_[nearest_that_reserves(edge.from)].signs->waits_for_memory.load();
  });
}

}  // namespace penstock::exec
