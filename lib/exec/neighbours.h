// Neighbours: what is known of the stages before and behind one, without a lock: it goes along the edges and reads
// signs (StageSigns), each of which may be over in the next moment.
//
// Thread safety: any thread, once all stages have been introduced.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/exec/edges.h"

namespace penstock::exec {

struct StageSigns;
struct StageTraits;

class Neighbours {
 public:
  // `edges` must live longer. `at_outlet`: how many slots have come to the outlet and have not been taken.
  Neighbours(const Edges& edges, const std::atomic<std::int64_t>& at_outlet)
      : edges_(edges), at_outlet_(at_outlet), stages_(edges.stages()) {}

  void introduce(std::size_t stage, const StageTraits& traits, const StageSigns& signs) {
    stages_[stage] = {&traits, &signs};
  }
  const Edges& edges() const noexcept { return edges_; }

  // Down to the outlet.
  std::int64_t memory_claimed_behind(std::size_t stage) const;  // sum of StageSigns::claim
  // Nothing waits or runs up to the next stage that reserves: stages between only hand on what is charged already.
  bool is_empty_behind(std::size_t stage) const;
  // A consumer that waits does so for this stage, too: false in a branch of a merge that lacks slots of others.
  bool is_awaited(std::size_t stage) const;
  // for what no core can hasten. Itself, too: it may wait, after a short start
  bool feeds_one_that_waits(std::size_t stage) const;

  // Up to the sources.
  // The next result is under way, here or in a stage before, with nothing but cheap calls between.
  bool brings_soon(std::size_t stage) const;
  // This one, or the nearest ones before it: at a merge, of each input. A source, if there is no other.
  template <class Visit> void for_each_nearest_that_reserves(std::size_t stage, const Visit& visit) const {
    if (!only_passes_on(stage)) return visit(stage);
    for (const Edge& edge : edges_.into(stage)) for_each_nearest_that_reserves(edge.from, visit);
  }
  // The same before it, of the inputs that it wants.
  template <class Visit> void for_each_nearest_before(std::size_t stage, const Visit& visit) const {
    const auto inputs = edges_.into(stage);
    const std::size_t wanted = only_wanted(stage);
    for (const Edge& edge : wanted < inputs.size() ? inputs.subspan(wanted, 1) : inputs)
      for_each_nearest_that_reserves(edge.from, visit);
  }
  // One of these waits for memory: whether nothing is left of what it gave may matter to it.
  bool is_watched(std::size_t stage) const;

 private:
  bool only_passes_on(std::size_t stage) const;
  std::size_t only_wanted(std::size_t stage) const;
  std::size_t next_up(std::size_t stage) const;

  struct Known {
    const StageTraits* traits = nullptr;
    const StageSigns* signs = nullptr;
  };

  const Edges& edges_;
  const std::atomic<std::int64_t>& at_outlet_;
  std::vector<Known> stages_;
};

}  // namespace penstock::exec
