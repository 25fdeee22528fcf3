// What travels on an edge of the flow graph: the slots that became ready together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <penstock/detail/pooled.h>
#include <penstock/op.h>

namespace penstock::exec {

using Slots = std::vector<Slot, detail::PooledAllocator<Slot>>;

// Elements and errors.
inline std::int64_t count_elements(const Slots& slots) noexcept {
  return std::count_if(slots.begin(), slots.end(), [](const Slot& slot) { return slot.is_item(); });
}

// Flow-graph nodes copy their messages, hence the shared pointer. An edge has one consumer, which moves the slots out,
// so a packet is never looked at by two threads.
struct Packet {
  Slots slots;
  // For the outlet. more_soon: the consumer need not be woken yet, another packet follows shortly, if only an empty
  // one.
  bool more_soon = false;
  // slots of this kind that are worth keeping ready: many where they are cheap and small
  std::int64_t worth_waiting = 0;
};
using PacketRef = std::shared_ptr<Packet>;

inline PacketRef make_packet() { return std::allocate_shared<Packet>(detail::PooledAllocator<Packet>()); }

// Lists that change with every element.
template <class T> using Queue = std::deque<T, detail::PooledAllocator<T>>;

}  // namespace penstock::exec
