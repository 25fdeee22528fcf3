#include "lib/exec/inbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::exec {
namespace {

// How many slots come before `most` are reached, or one is passed that ends a group: what is no item is the last of its
// own, so that the others are numbered by their places.
std::int64_t stretch_of_group(const Slots& slots, std::size_t from, std::int64_t most) {
  const auto end = std::min(slots.size(), from + static_cast<std::size_t>(most));
  for (std::size_t i = from; i < end; ++i) {
    if (!slots[i].is_item()) return static_cast<std::int64_t>(i + 1 - from);
  }
  return static_cast<std::int64_t>(end - from);
}

}  // namespace

void Inbox::receive(Slots&& slots) {
  const auto count = static_cast<std::int64_t>(slots.size());
  packets_.push_back(std::move(slots));
  count_ += count;
}

void Inbox::fill(Group& group, std::int64_t most) {
  bool is_full = false;
  while (count_ > 0 && group.inputs.admitted < most && !is_full) is_full = take_from_front(group, most);
}

// Whether the group has its last slot. A packet that fits whole is not copied.
bool Inbox::take_from_front(Group& group, std::int64_t most) {
  Slots& front = packets_.front();
  const std::int64_t count = stretch_of_group(front, taken_, most - group.inputs.admitted);
  const bool whole = taken_ == 0 && group.slots.empty() && count == static_cast<std::int64_t>(front.size());
  if (whole) {
    std::swap(group.slots, front);
  } else {
    const auto first = front.begin() + static_cast<std::ptrdiff_t>(taken_);
    std::move(first, first + count, std::back_inserter(group.slots));
  }
  taken_ += static_cast<std::size_t>(count);
  if (whole || taken_ == front.size()) {
    packets_.pop_front();
    taken_ = 0;
  }
  count_ -= count;
  promised_ -= count;
  group.inputs.admitted += count;
  group.mark = PassEnd::of(group.slots.back());
  const bool is_full = !group.slots.back().is_item();
  if (skipping_) drop(group.slots);
  if (group.mark) note_mark(group.slots.back());
  return is_full;
}

void Inbox::note_mark(const Slot& mark) {
  std::fill_n(closed_.begin(), mark.level() + 1u, static_cast<std::int64_t>(mark.stamp.sequence));
  if (!skipping_ || mark.level() < skip_depth_ || mark.stamp.sequence < skip_last_) return;
  skipping_ = false;
  skip_last_ = 0;
}

std::int64_t Inbox::top_up(std::int64_t capacity) {
  const std::int64_t more = std::max<std::int64_t>(capacity - promised_, 0);
  if (2 * more < capacity) return 0;
  promised_ += more;
  return more;
}

// Of a single pass the first mark that is deep enough is the last one: a later request may be about a pass behind that.
void Inbox::leave_out(std::size_t depth, std::uint64_t first, std::uint64_t last) {
  if (closed_[depth] >= static_cast<std::int64_t>(last)) return;
  if (last > first) skip_last_ = std::max(skip_last_, last);
  skip_depth_ = skipping_ ? std::max(skip_depth_, depth) : depth;
  skipping_ = true;
}

void Inbox::drop(Slots& slots) {
  const auto unwanted = std::stable_partition(slots.begin(), slots.end(),
                                              [](const Slot& slot) { return slot.kind() == Slot::Kind::pass_end; });
  std::int64_t bytes = 0;
  for (auto slot = unwanted; slot != slots.end(); ++slot) bytes += slot->bytes();
  std::move(unwanted, slots.end(), std::back_inserter(dropped_));
  slots.erase(unwanted, slots.end());
  traits_.memory.release(bytes);
}

bool Inbox::let_go(Slots& to) noexcept {
  taken_ = 0;
  count_ = 0;
  if (packets_.empty()) return false;
  to.swap(packets_.front());
  packets_.pop_front();
  return true;
}

}  // namespace penstock::exec
