#include "lib/exec/reservation.h"

#include <utility>

namespace penstock::exec {

// By which its results are foretold: inputs, or what it may make.
std::int64_t Reservation::slots_of(const Group& group) const {
  if (group.inner) return group.inner->wanted;
  return traits_.is_head ? group.inputs.admitted : static_cast<std::int64_t>(group.slots.size());
}

std::int64_t Reservation::expected(const Group& group) const {
  const std::int64_t slots = slots_of(group);
  if (!group.memory.has_hint())
    return static_cast<std::int64_t>(sizes_.expected_bytes() * static_cast<double>(slots)) + group.memory.needs;
  const double results = meter_.results_each(1) * static_cast<double>(slots);  // each will need a slot
  return group.memory.hint + static_cast<std::int64_t>(results * sizeof(Slot)) + group.memory.needs;
}

// Who only passes on what is charged already may always go on.
bool Reservation::take(Group& group, std::int64_t running) {
  if (group.memory.reserved_since > 0) give_back(group);  // while its hint was asked for
  if (needs_none(group)) return true;
  group.memory.reserved = traits_.plan.passes_memory_on ? group.memory.needs : expected(group);
  if (traits_.plan.passes_memory_on) return group.memory.needs == 0 || traits_.memory.reserve(group.memory.needs, true);
  if (reserve(group)) return true;
  // The second look closes the gap between a refusal and the flag that asks for a wake-up.
  refuse(group.memory.reserved, 2 * (running - 1) < knobs_.parallelism);
  if (!reserve(group)) {
    group.memory.reserved = 0;
    return false;
  }
  look_again();
  return true;
}

bool Reservation::reserve(const Group& group) {
  return traits_.memory.reserve(group.memory.reserved, false, traits_.neighbours.memory_claimed_behind(traits_.index));
}

void Reservation::refuse(std::int64_t bytes, bool is_idle) noexcept {
  signs_.waits_for_memory = true;
  if (is_idle) signs_.claim = bytes;
}

void Reservation::force(Group& group) {
  group.memory.reserved = expected(group);
  group.memory.is_forced = traits_.memory.reserve(group.memory.reserved, true);
  look_again();
}

void Reservation::give_back(Group& group) { traits_.memory.release(group.memory.let_go()); }

void Reservation::take_for_first_calls(const Ring& ring) {
  for (const auto& group : ring.groups()) {
    const bool has_its_own = group->memory.has_hint() || group->memory.reserved_since > 0;
    if (group->state != Group::State::running || group->kind == Group::Kind::part || group->folded.is_unfolding ||
        has_its_own)
      continue;
    group->memory.reserved_since = static_cast<std::int64_t>(
        sizes_.expected_bytes() * static_cast<double>(group->inner ? group->inner->wanted : group->inputs.admitted));
    traits_.memory.charge(group->memory.reserved_since);
  }
}

bool Reservation::has_room(const Group& group, std::int64_t calls) const {
  return traits_.memory.has_room(calls * expected(group), traits_.neighbours.memory_claimed_behind(traits_.index));
}

bool Reservation::wait(const Group& group, std::int64_t running) {
  const std::int64_t bytes = expected(group), kept = traits_.neighbours.memory_claimed_behind(traits_.index);
  refuse(bytes, 2 * running < knobs_.parallelism);
  traits_.memory.note_need(bytes + kept);
  // Looked at behind the flag: who makes room, or takes the last element of what follows, sees it and wakes this stage.
  return !traits_.memory.has_room(bytes, kept);
}

bool Reservation::withdraw_claim() noexcept {
  if (signs_.claim.load(std::memory_order_relaxed) == 0) return false;
  signs_.claim = 0;
  traits_.memory.note_need(0);
  return true;
}

}  // namespace penstock::exec
