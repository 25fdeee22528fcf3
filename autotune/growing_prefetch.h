// GrowingPrefetch: tf.data's rule for the depth of a prefetch, for the policies that penstock's own is compared with:
// twice as deep when the consumer found it empty after it had been full; never shallower.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <penstock/snapshot.h>

namespace penstock::autotune {

class GrowingPrefetch {
 public:
  std::optional<std::int64_t> wish(const Snapshot& now) {
    const ConsumerSnapshot& consumer = now.consumer;
    const bool ran_dry = consumer.waits > waits_;
    had_no_room_ = had_no_room_ || consumer.full_ns > full_ns_;
    waits_ = consumer.waits;
    full_ns_ = consumer.full_ns;
    if (!ran_dry || !had_no_room_) return std::nullopt;
    had_no_room_ = false;
    return std::min<std::int64_t>(2 * consumer.prefetch, kMost);
  }

 private:
  static constexpr std::int64_t kMost = 512;

  std::int64_t waits_ = 0, full_ns_ = 0;
  bool had_no_room_ = false;
};

}  // namespace penstock::autotune
