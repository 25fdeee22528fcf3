// Stage: how finished groups leave, in order or as they come, as far as credits go.
#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {
constexpr double kCheapCall = 1'000'000;  // ns; a dearer element is delivered at once
constexpr double kWakeHorizon = 16'000'000;  // ns, twice the outlet's pause between wake-ups: half of what is made meanwhile wakes it, too
}

void Stage::retire(std::size_t place) {
  auto group = std::move(ring_[place]);
  ring_.erase(ring_.begin() + static_cast<std::ptrdiff_t>(place));
  in_window_ -= group->admitted;
  if (group->has_mark) std::fill_n(departed_.begin(), group->mark_level + 1u, static_cast<std::int64_t>(group->mark_sequence));
  group->clear();
  spare_.push_back(std::move(group));
}

// Moves what credits allow, and keeps the mark if asked to. True: all of the group has left.
bool Stage::collect_group(Group& group, bool keeps_mark, Slots& out) {
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

// Everything that may leave now, as one packet. In arbitrary order a mark still stays behind all that was admitted before it.
PacketRef Stage::collect() {
  Slots out;
  for (std::size_t place = 0; place < ring_.size();) {
    Group& group = *ring_[place];
    if (group.state == Group::State::done) {
      const bool is_folded = !group.folded.empty();  // its mark, too
      if (!collect_group(group, group.has_mark && !is_folded && place > 0, out)) break;
      if (is_folded) {
        wait_to_unfold(group);
        continue;
      }
      retire(place);
    } else {
      if (plan_.order == Order::kept || group.has_mark) break;
      ++place;
    }
  }
  if (out.empty()) return nullptr;
  counters_.elements_out += count_elements(out);
  auto packet = make_packet();
  packet->slots = std::move(out);
  return packet;
}

// Whether the next result is under way, here or in a stage before, with nothing but cheap calls between.
bool Stage::brings_soon() const {
  const Stage* stage = this;
  const auto is = [](const std::atomic<bool>& flag) { return flag.load(std::memory_order_relaxed); };
  while (is(stage->cheap_) && !is(stage->busy_) && stage->upstream_ != nullptr) stage = stage->upstream_;
  return is(stage->cheap_) && is(stage->busy_);
}

void Stage::tell_what_is_under_way() {
  cheap_.store(plan_.is_prompt && slot_ns_average_ > 0 && slot_ns_average_ < kCheapCall, std::memory_order_relaxed);
  busy_.store(running_ > 0 || !folded_.empty() || (!ready_.empty() && !waits_for_memory_ && !waits_for_slot_), std::memory_order_relaxed);
}

// The last stage tells the outlet whether to wake its consumer now. Having promised more, it keeps the promise: with the next packet,
// or with an empty one when nothing is under way any more; if it is a stage before that brings nothing, Outlet::nudge() does.
PacketRef Stage::next_packet() {
  PacketRef packet = collect();
  if (one_at_a_time_) return packet;
  tell_what_is_under_way();
  if (!host_.is_last(index_)) return packet;
  // Where memory is short, what is ready may be what everything else waits for.
  const bool has_room = 2 * host_.memory().used() < host_.memory().limit();
  const bool more_soon = has_room && credits_ > 0 && brings_soon();
  if (!packet && owes_wake_ && !more_soon) packet = make_packet();
  if (!packet) return nullptr;
  packet->more_soon = owes_wake_ = more_soon;
  packet->worth_waiting = worth_waiting();
  return packet;
}

// Results that are made soon enough to wait for, as far as memory does not count. The rest of the books counts inputs, of which a batch takes many
// and a flat_map few.
std::int64_t Stage::worth_waiting() const {
  const auto inputs = static_cast<double>(std::max<std::int64_t>(counters_.completed, 1));
  const double results = static_cast<double>(made_) / inputs;
  const bool small = bytes_average_ < kSmallElement * results;
  const std::int64_t soon = small && slot_ns_average_ < kCheapCall ? small_elements(kWakeHorizon) : 0;
  const double most = static_cast<double>(std::max(capacity() / 2, soon)) * results;
  const double affordable = affordable_bytes() / std::max(bytes_average_ / std::max(results, 1.0), 1.0);
  return static_cast<std::int64_t>(std::min(most, affordable));
}

}  // namespace penstock::exec
