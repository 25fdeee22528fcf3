#include "lib/exec/parts.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace penstock::exec {

void Parts::open(Group& group) {
  const std::size_t slots = traits_.is_source ? static_cast<std::size_t>(group.admitted) : group.slots.size();
  if (slots < 2 || traits_.one_at_a_time) return;
  if (group.call == nullptr) group.call = std::make_unique<OpenCall>();
  group.call->open(slots, traits_.host.stopped() || std::atomic_ref(group.is_unwanted).load(std::memory_order_relaxed));
  group.was_opened = true;
  signs_.open_calls.fetch_add(1, std::memory_order_relaxed);
}

void Parts::take_back(Group& group, Cancellation& cancellation) {
  auto rest = ring_.new_part(group, group.ran);
  std::swap(rest->slots, group.rest);
  rest->admitted = static_cast<std::int64_t>(rest->slots.size());
  group.admitted -= rest->admitted;
  group.elements -= elements_of(rest->slots);
  pass_mark_on(group, *rest);
  rest->is_flush = std::exchange(group.is_flush, false);
  rest->came_back = !traits_.plan.serial;
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
    if (is_overtaken_by_none || group.has_mark) return nullptr;  // nothing overtakes a mark
  }
  return nullptr;
}

// Its share of what was reserved, of the inputs' bytes, and of the window goes with it. A stream op's inputs are done with at the end of the call.
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
  part->started_ns = group.started_ns;
  part->source_ordinal = group.source_ordinal;
  part->is_part = true;
  std::swap(part->slots, out);
  const std::int64_t left = std::max(static_cast<std::int64_t>(call.planned) - before, count);
  part->reserved = group.reserved * count / left;
  group.reserved -= part->reserved;
  part->hint = group.hint < 0 ? -1 : group.hint * count / left;
  if (group.hint > 0) group.hint -= part->hint;
  if (traits_.plan.serial) return part;
  part->elements = inputs_of(*part);
  group.elements -= part->elements;
  part->admitted = count;
  group.admitted -= count;
  part->input_bytes = bytes_of(part->slots);
  group.input_bytes -= part->input_bytes;
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
  if (traits_.is_source) return static_cast<std::int64_t>(part.slots.size());
  if (traits_.plan.serial) return 0;
  return std::count_if(part.slots.begin(), part.slots.end(), [](const Slot& slot) { return slot.kind() != Slot::Kind::error; });
}

}  // namespace penstock::exec
