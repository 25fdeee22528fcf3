// What travels on an edge of the flow graph: the slots that became ready together.
#pragma once

#include <memory>
#include <vector>

#include <penstock/op.h>

namespace penstock::exec {

using Slots = std::vector<Slot>;

// Flow-graph nodes copy their messages, hence the shared pointer. An edge has one consumer, which moves the slots out, so a
// packet is never looked at by two threads.
struct Packet {
  Slots slots;
};
using PacketRef = std::shared_ptr<Packet>;

}  // namespace penstock::exec
