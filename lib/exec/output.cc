#include "lib/exec/output.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::exec {

// Moves what credits allow, and keeps the mark if asked to. True: all of the group has left.
bool Output::collect_group(Group& group, bool keeps_mark, Slots& out) {
  const auto size = static_cast<std::int64_t>(group.slots.size());
  const std::int64_t count = std::min(size - static_cast<std::int64_t>(group.left) - (keeps_mark ? 1 : 0), credits_);
  if (count == size && out.empty()) {
    std::swap(out, group.slots);
  } else {
    const auto first = group.slots.begin() + static_cast<std::ptrdiff_t>(group.left);
    std::move(first, first + count, std::back_inserter(out));
  }
  group.left += static_cast<std::size_t>(count);
  credits_ -= count;
  unsent_ -= count;
  return static_cast<std::int64_t>(group.left) == size;
}

PacketRef Output::collect() {
  Slots out;
  traits_.plan.is_nest() ? collect_in_turn(out) : collect_groups(out);
  if (out.empty()) return nullptr;
  meter_.counters.elements_out += count_elements(out);
  auto packet = make_packet();
  packet->slots = std::move(out);
  return packet;
}

void Output::collect_in_turn(Slots& out) {
  lanes.collect(out, credits_);
  credits_ -= static_cast<std::int64_t>(out.size());
  unsent_ -= std::ranges::count_if(out, [](const Slot& slot) { return slot.kind() != Slot::Kind::save_point; });
}

void Output::collect_groups(Slots& out) {
  if (done_ == 0) return;
  const auto& groups = ring_.groups();
  for (std::size_t place = 0; place < groups.size();) {
    Group& group = *groups[place];
    if (group.state == Group::State::done) {
      const bool is_folded = !group.folded.empty();  // its mark, too
      if (!collect_group(group, group.mark && !is_folded && place > 0, out)) break;
      --done_;
      if (is_folded) {
        unfold_later(group);
        continue;
      }
      ring_.retire(place);
    } else {
      if (traits_.plan.order == Order::kept || group.mark) break;
      ++place;
    }
  }
}

// What the group had slots for has left.
void Output::unfold_later(Group& group) {
  group.state = Group::State::waiting;
  group.left = 0;
  group.taken += group.folded.unfold(group.slots);
  folded_.put_in_line(group);
}

PacketRef Output::for_consumer(PacketRef packet, bool more_soon, const Sizes& sizes) {
  more_soon = more_soon && credits_ > 0;
  if (!packet && owes_wake_ && !more_soon) packet = make_packet();
  if (!packet) return nullptr;
  packet->more_soon = owes_wake_ = more_soon;
  packet->worth_waiting = sizes.worth_waiting();
  return packet;
}

}  // namespace penstock::exec
