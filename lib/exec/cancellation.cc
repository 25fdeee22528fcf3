#include "lib/exec/cancellation.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace penstock::exec {

void Cancellation::cancel(std::size_t depth, std::uint64_t first, std::uint64_t last) {
  if (ring_.has_left(depth, last)) return;
  const auto& groups = ring_.groups();
  auto end = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
    return group->mark && group->mark->ends_input(depth) && group->mark->sequence >= last;
  });
  if (end != groups.end()) ++end;
  for (auto group = begin_of(first); group != end && !traits_.is_head; ++group) {
    if (traits_.plan.is_nest() || (*group)->place.sequence >= first) cancel(**group);
  }
  inbox_.leave_out(depth, first, last);
}

// Where the groups of this pass may begin. Datasets of a nest that were begun before the end of a repeat's pass go on
// behind it: all of them are of the nest's own pass.
Cancellation::Groups::const_iterator Cancellation::begin_of(std::uint64_t first) const {
  const Groups& groups = ring_.groups();
  if (!traits_.plan.is_nest()) return groups.begin();
  const auto is_before = [&](const auto& group) {
    return group->mark && group->mark->ends_input(traits_.plan.depth) && group->mark->sequence < first;
  };
  return std::find_if(groups.rbegin(), groups.rend(), is_before).base();
}

void Cancellation::cancel(Group& group) {
  std::atomic_ref(group.is_unwanted).store(true);
  if (group.state == Group::State::running && group.inner) stops_.push_back(group.inner->stop);
  if (group.state == Group::State::running) return group.want_back();
  if (group.folded.is_unfolding || !group.folded.empty()) return let_go_of_folded(group);
  if (group.state == Group::State::waiting) drop_inputs(group);
  if (group.inner) lanes_.give_up(group);
}

// Of a group that waits.
void Cancellation::drop_inputs(Group& group) {
  const std::size_t before = group.slots.size();
  inbox_.drop(group.slots);
  give_turns_back(group, before);
  group.inputs.bytes = 0;
  group.memory.forget_needs();
}

// The turns of slots that were taken out behind the group's first ones. Its mark has stayed.
void Cancellation::give_turns_back(const Group& group, std::size_t slots_before) {
  if (!group.place.has_turns()) return;
  const auto marks = static_cast<std::int64_t>(group.mark.has_value());
  const std::int64_t end = group.place.first_turn + static_cast<std::int64_t>(slots_before) - marks;
  const std::int64_t begin = group.place.first_turn + static_cast<std::int64_t>(group.slots.size()) - marks;
  for (std::int64_t turn = begin; turn < end; ++turn) ledger_->complete(turn, 0);
}

// All but the mark.
void Cancellation::let_go_of_folded(Group& group) {
  inbox_.drop(group.state == Group::State::waiting ? group.slots : group.folded.answers);
  group.folded.unfolded = 0;
  folded_.count(group, 0, 0);
}

}  // namespace penstock::exec
