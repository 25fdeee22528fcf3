#include "lib/exec/ring.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::exec {

std::int64_t bytes_of(const Slots& slots) {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots) bytes += slot.bytes();
  return bytes;
}

std::int64_t elements_of(const Slots& slots) {
  return std::count_if(slots.begin(), slots.end(), [](const Slot& slot) { return slot.is_element(); });
}

std::unique_ptr<Group> Ring::new_group() {
  std::unique_ptr<Group> group;
  if (spare_.empty()) {
    group = std::make_unique<Group>();
  } else {
    group = std::move(spare_.back());
    spare_.pop_back();
  }
  group->place.number = next_number_;
  next_number_ += kLargestGroup;  // room for the numbers of its parts: see keep_first()
  group->place.first_ordinal = inputs_this_pass_;
  return group;
}

std::unique_ptr<Group> Ring::new_part(const Group& group, std::int64_t offset) {
  auto part = new_group();
  part->place = group.place.behind(offset);
  return part;
}

void Ring::append(std::unique_ptr<Group> group) {
  Group& appended = *groups_.emplace_back(std::move(group));
  in_window_ += appended.inputs.admitted;
  if (appended.state == Group::State::waiting) ready_.push_back(&appended);
}

Group& Ring::insert(std::size_t place, std::unique_ptr<Group> part) {
  return **groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(place), std::move(part));
}

Group& Ring::insert_behind(const Group& group, std::unique_ptr<Group> rest) {
  const auto place = std::ranges::find_if(groups_, [&](const auto& other) { return other.get() == &group; });
  Group& inserted = **groups_.insert(place + 1, std::move(rest));
  put_in_line(inserted);
  return inserted;
}

Group& Ring::keep_first(Group& group, std::int64_t count) {
  auto rest = new_part(group, count);
  const auto first = group.slots.begin() + static_cast<std::ptrdiff_t>(count);
  rest->slots.assign(std::make_move_iterator(first), std::make_move_iterator(group.slots.end()));
  group.slots.resize(static_cast<std::size_t>(count));
  rest->inputs = {.admitted = group.inputs.admitted - count, .bytes = bytes_of(rest->slots)};
  group.inputs -= rest->inputs;
  rest->mark = std::exchange(group.mark, std::nullopt);
  rest->kind = group.kind;
  group.memory.forget_hint();
  return insert_behind(group, std::move(rest));
}

void Ring::admit_less(Group& group, std::int64_t count) noexcept {
  if (group.inputs.admitted > count) in_window_ -= std::exchange(group.inputs.admitted, count) - count;
}

void Ring::retire(std::size_t place) {
  auto group = std::move(groups_[place]);
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(place));
  in_window_ -= group->inputs.admitted;
  if (group->mark)
    std::fill_n(departed_.begin(), group->mark->level + 1u, static_cast<std::int64_t>(group->mark->sequence));
  spare(std::move(group));
}

void Ring::spare(std::unique_ptr<Group> group) {
  group->clear();
  spare_.push_back(std::move(group));
}

void Ring::put_in_line(Group& group) {
  const auto place =
      std::lower_bound(ready_.begin(), ready_.end(), group.place.number,
                       [](const Group* other, std::int64_t number) { return other->place.number < number; });
  ready_.insert(place, &group);
}

void Ring::put_first(Group& group) {
  std::erase(ready_, &group);
  ready_.push_front(&group);
}

void Ring::Before::add(const Group& group) {
  const bool is_done = group.state == Group::State::done;
  if (begun > 0 || !is_done) begun += group.inputs.admitted;
  is_open = is_open || !is_done;
  has_open_pass = has_open_pass || (is_open && group.mark);
}

std::int64_t Ring::startable(const Group& group, const RingBounds& bounds) const {
  Before before;
  for (const auto& other : groups_) {
    if (other.get() == &group || !(traits_.keeps_near || traits_.keeps_passes_apart)) break;
    before.add(*other);
  }
  return startable(group, before, bounds);
}

std::int64_t Ring::startable(const Group& group, const Before& before, const RingBounds& bounds) const {
  if ((group.kind == Group::Kind::flush || bounds.has_plenty) && !is_oldest(*this, group))
    return 0;  // what is before it has not left
  if (traits_.keeps_passes_apart && before.has_open_pass) return 0;
  const auto size = std::max<std::int64_t>(static_cast<std::int64_t>(group.slots.size()),
                                           1);  // nothing is left of some that were cancelled
  return traits_.keeps_near && before.begun > 0 ? std::clamp<std::int64_t>(bounds.window - before.begun, 0, size)
                                                : size;
}

bool Ring::may_all_start(const RingBounds& bounds) const {
  const bool is_free = !traits_.keeps_near && !traits_.keeps_passes_apart && !bounds.has_plenty;
  return is_free && (ready_.empty() || ready_.front()->kind != Group::Kind::flush);
}

// Those who may not begin yet will be looked at again when an older one is done. One walk along the ring, in whose
// order groups wait: with 128 calls, a walk for each of them took a quarter of the CPU time.
std::int64_t Ring::startable_groups(const RingBounds& bounds) const {
  if (may_all_start(bounds)) return static_cast<std::int64_t>(ready_.size());
  Before before;
  std::size_t count = 0;
  for (auto group = groups_.begin(); group != groups_.end() && count < ready_.size(); ++group) {
    if (group->get() == ready_[count]) {
      if (startable(**group, before, bounds) == 0) break;
      ++count;
    }
    before.add(**group);
  }
  return static_cast<std::int64_t>(count);
}

std::unique_ptr<Group> Ring::let_go() noexcept {
  ready_.clear();
  in_window_ = 0;
  if (groups_.empty()) return nullptr;
  auto group = std::move(groups_.back());
  groups_.pop_back();
  return group;
}

std::shared_ptr<AsyncTarget> target_before(const Ring& ring, std::size_t& place) {
  place = std::min(place, ring.groups().size());
  while (place > 0) {
    if (const auto& target = ring.groups()[--place]->target) return target;
  }
  return nullptr;
}

}  // namespace penstock::exec
