// StageSigns: what others may know of a stage without its lock: the stages before and behind it, the engine, whoever
// waits for elements.
//
// Each sign is written with the stage's lock held, but for `dropped` and what a merge's running body tells. Anybody may
// read it at any time; it may change in the next moment. Who must not miss a change first writes its own sign and then
// reads the other one; both are sequentially consistent.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/cache_line.h"

namespace penstock::exec {

// Of an input of a merge.
struct alignas(kCacheLine) PortSigns {
  // slots that have come and that the merge has not used up, as it tells with the end of a packet or of a run
  std::atomic<std::int64_t> occupied{0};
  std::atomic<bool> soon{false};  // worth reading ahead; written by the running body
};

// Of all inputs of a merge.
class MergeSigns {
 public:
  static constexpr std::int64_t kNone = -1, kAll = -2;

  explicit MergeSigns(std::size_t inputs) : ports_(inputs) {}
  PortSigns& operator[](std::size_t port) noexcept { return ports_[port]; }
  const PortSigns& operator[](std::size_t port) const noexcept { return ports_[port]; }
  std::size_t size() const noexcept { return ports_.size(); }

  // Which input the next slot is to be of: its number, or one of the two above. Written by the running body.
  std::atomic<std::int64_t> wanted{kNone};
  bool is_wanted(std::size_t port) const noexcept {
    const std::int64_t which = wanted;
    return which == kAll || which == static_cast<std::int64_t>(port);
  }
  bool is_empty(std::size_t port) const noexcept { return is_wanted(port) && ports_[port].occupied == 0; }
  // The first one that is wanted and empty; size() if there is none. At once, but where all are wanted.
  std::size_t first_empty() const noexcept {
    const std::int64_t which = wanted;
    if (which == kAll) {
      const auto is_empty = [](const PortSigns& port) { return port.occupied == 0; };
      return static_cast<std::size_t>(std::ranges::find_if(ports_, is_empty) - ports_.begin());
    }
    return which != kNone && ports_[static_cast<std::size_t>(which)].occupied == 0 ? static_cast<std::size_t>(which)
                                                                                   : size();
  }

 private:
  std::vector<PortSigns> ports_;
};

struct StageSigns {
  explicit StageSigns(std::size_t inputs = 0) : ports(inputs) {}

  // Seldom written, and read by others for each of their tokens.
  // Bytes that the stage was refused while most of its calls stood idle. Stages upstream must leave them free: they
  // would only bring it more to do.
  alignas(kCacheLine) std::atomic<std::int64_t> claim{0};
  std::atomic<bool> waits_for_memory{false};
  std::atomic<bool> waits_for_permit{false};
  std::atomic<bool> has_folded{false};  // results that have no slots yet, and nothing before them
  std::atomic<bool> on_pool{false};

  // Written with each call.
  // slots that wait, or have not left the ring; one more while a packet is sent. Of a merge without those that wait
  alignas(kCacheLine) std::atomic<std::int64_t> occupied{0};
  std::atomic<std::int64_t> open_calls{0};      // whether looking after them is worth the lock
  std::atomic<std::int64_t> dropped{0};         // errors that ops have left out for good
  std::atomic<bool> cheap{false}, busy{false};  // see Neighbours::brings_soon()
  std::atomic<bool> is_starting{false};         // few calls may run, for nobody knows what their results hold

  MergeSigns ports;  // none, unless it is a merge

  // Whether nothing is there of what this input brought, and the next slot that it brings would be used at once.
  bool is_empty(std::size_t port) const noexcept {
    return occupied.load() == 0 && (ports.size() == 0 || ports.is_empty(port));
  }
};

}  // namespace penstock::exec
