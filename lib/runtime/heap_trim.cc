#include "lib/runtime/heap_trim.h"

#include <algorithm>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "lib/core/clock.h"
#include "lib/core/heap_top.h"

namespace penstock::runtime {
namespace {

constexpr std::int64_t kShortestPause = 20'000'000, kLongestPause = 60'000'000'000;  // ns
constexpr std::int64_t kWorthIt = 16 << 20;                                          // bytes

#ifdef __GLIBC__
std::int64_t read_resident() noexcept { return static_cast<std::int64_t>(rss_bytes()); }
void trim_heap() noexcept {
  malloc_trim(0);
  ask_for_heap_tops();
}
#else
std::int64_t read_resident() noexcept { return 0; }
void trim_heap() noexcept {}
#endif

}  // namespace

HeapTrim::System HeapTrim::system() noexcept { return {read_resident, trim_heap}; }

void HeapTrim::look(std::int64_t now_ns, std::int64_t used, std::int64_t limit) noexcept {
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kShortestPause;
  const std::int64_t resident = system_.resident_bytes();
  if (wanted_ != kAny && !has_helped(resident)) {
    next_ns_ = now_ns + pause_ns_;
    return;
  }
  const std::int64_t kept = resident - before_ - used;
  if (kept < std::max(kWorthIt, limit / 8)) return;
  system_.trim();
  wanted_ = resident - kept / 4;
  if (const std::int64_t now = system_.resident_bytes(); now < wanted_) has_helped(now);
}

// The last time. Threads give back what their arenas have when they come to it, so that is seen at the next look only.
bool HeapTrim::has_helped(std::int64_t resident) noexcept {
  const bool helped = resident < std::exchange(wanted_, kAny);
  pause_ns_ = helped ? 0 : std::clamp(2 * pause_ns_, 2 * kShortestPause, kLongestPause);
  return helped;
}

}  // namespace penstock::runtime
