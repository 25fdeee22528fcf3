#include "lib/exec/parts.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace penstock::exec {

// That its call is made for.
std::size_t Parts::slots_of(const Group& group) const {
  if (group.inner) return static_cast<std::size_t>(group.inner->wanted);
  return traits_.is_source ? static_cast<std::size_t>(group.inputs.admitted) : group.slots.size();
}

void Parts::open(Group& group) {
  const std::size_t slots = slots_of(group);
  const bool has_one_result = slots < 2 && !group.inner;  // of a nest the next calls may wait for this one to be seen
  if (has_one_result || traits_.one_at_a_time || traits_.plan.is_merge()) return;
  if (group.call == nullptr) group.call = std::make_unique<OpenCall>();
  group.call->open(slots, traits_.host.stopped() || std::atomic_ref(group.is_unwanted).load(std::memory_order_relaxed));
  signs_.open_calls.fetch_add(1, std::memory_order_relaxed);
}

void Parts::take_back(Group& group, Cancellation& cancellation) {
  auto rest = ring_.new_part(group, group.rest.begin);
  std::swap(rest->slots, group.rest.slots);
  rest->inputs = {static_cast<std::int64_t>(rest->slots.size()), bytes_of(rest->slots), elements_of(rest->slots)};
  group.inputs -= rest->inputs;
  rest->mark = std::exchange(group.mark, std::nullopt);
  if (!traits_.plan.serial) {
    rest->kind = Group::Kind::came_back;
  } else if (group.rest.is_flush) {
    rest->kind = Group::Kind::flush;
  }
  if (group.is_unwanted) cancellation.cancel(*rest);
  ring_.insert_behind(group, std::move(rest));
}

Group* Parts::take() {
  const auto& groups = ring_.groups();
  for (std::size_t place = 0; place < groups.size(); ++place) {
    Group& group = *groups[place];
    if (group.state == Group::State::running && group.call != nullptr) {
      if (auto part = take_of(group)) return &ring_.insert(place, std::move(part));
    }
    const bool is_overtaken_by_none = traits_.plan.order == Order::kept && group.state != Group::State::done;
    if (is_overtaken_by_none || group.mark) return nullptr;  // nothing overtakes a mark
  }
  return nullptr;
}

std::unique_ptr<Group> Parts::take_of_nest(Group*& owner) {
  for (const auto& group : ring_.groups()) {
    if (group->state != Group::State::running || group->call == nullptr || group->inner->has_part_out) continue;
    auto part = take_of(*group);
    if (part == nullptr) continue;
    owner = group.get();
    owner->inner->has_part_out = true;
    part->place = owner->place;
    return part;
  }
  return nullptr;
}

// Its share of what was reserved, of the inputs' bytes, and of the window goes with it. A stream op's inputs are done
// with at the end of the call.
std::unique_ptr<Group> Parts::take_of(Group& group) {
  OpenCall& call = *group.call;
  MutexLock lock(call.mutex);
  const auto before = static_cast<std::int64_t>(call.taken);
  Slots out;
  call.take(body_->results_of(group), out);
  if (out.empty()) return nullptr;
  const auto count = static_cast<std::int64_t>(out.size());
  auto part = ring_.new_part(group, before);
  part->state = Group::State::running;
  part->kind = Group::Kind::part;
  part->start = {.ns = group.start.ns, .ordinal = group.start.ordinal, .source = group.start.source};
  std::swap(part->slots, out);
  const std::int64_t left = std::max(static_cast<std::int64_t>(call.planned) - before, count);
  part->memory = group.memory.split_off(count, left);
  if (traits_.plan.serial || group.inner) return part;
  part->inputs = {count, bytes_of(part->slots), inputs_of(*part)};
  group.inputs -= part->inputs;
  return part;
}

Slots Parts::answers_of(Group& group) const {
  Slots answers;
  if (group.call == nullptr) return answers;
  MutexLock lock(group.call->mutex);
  group.call->take(body_->results_of(group), answers);
  return answers;
}

std::int64_t Parts::inputs_of(const Group& part) const {
  if (traits_.is_source || traits_.plan.is_nest()) return static_cast<std::int64_t>(part.slots.size());
  if (traits_.plan.serial) return 0;
  return std::count_if(part.slots.begin(), part.slots.end(),
                       [](const Slot& slot) { return slot.kind() != Slot::Kind::error; });
}

}  // namespace penstock::exec
