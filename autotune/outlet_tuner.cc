#include "autotune/outlet_tuner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::autotune {
namespace {

constexpr double kPause = 0.025;                           // s without a request: a burst is over
constexpr double kBurstMemory = 5;                         // s for which a burst is expected to come again
constexpr double kShortestWatch = 2, kLongestWatch = 240;  // s of never running low before a buffer is made shallower
constexpr double kFullShare = 0.05;                        // of the time, full: room would have been used
constexpr double kShallower = 0.7;
constexpr std::int64_t kLongestBurst = 1024;  // elements
constexpr std::int64_t kSmallest = 2;

}  // namespace

std::optional<Wish> OutletTuner::wish(const Snapshot& now, const Traffic& traffic) {
  const double now_s = static_cast<double>(now.time_ns) / 1e9;
  since_s_ = now_s - std::exchange(now_s_, now_s);
  follow_bursts(now, traffic);
  if (burst_ > 0 && !expects_burst()) {  // other times, of which nothing has been seen yet
    burst_ = 0;
    pause_s_ = kShortestWatch;
    start_over(now.consumer);
  }
  if (traffic.idle) {
    leave_out(now);
  } else {
    most_ready_ = std::max(most_ready_, now.consumer.ready);
    least_ready_ = now.consumer.waits > before_.waits ? 0 : std::min(least_ready_, now.consumer.ready);
  }
  auto wish = deeper(now);
  if (!wish) wish = shallower(now);
  before_ = now.consumer;
  if (wish) start_over(now.consumer);
  return wish;
}

void OutletTuner::start_over(const ConsumerSnapshot& now) {
  waits_ = now.waits;
  full_ns_ = now.full_ns;
  changed_s_ = watched_s_ = now_s_;
  most_ready_ = least_ready_ = now.ready;
}

// What fills while nobody takes anything says nothing of the room that is needed.
void OutletTuner::leave_out(const Snapshot& now) {
  watched_s_ += since_s_;
  changed_s_ += since_s_;
  full_ns_ += now.consumer.full_ns - before_.full_ns;
}

void OutletTuner::follow_bursts(const Snapshot& now, const Traffic& traffic) {
  const std::int64_t taken = now.consumer.taken - before_.taken;
  if (taken > 0 || now.consumer.waiting) return go_on_with_burst(now, traffic, taken);
  const double pause = now_s_ - active_s_;
  if (pause >= kPause && taken_ > 1 && taken_ <= kLongestBurst) expect_again(traffic.attainable * pause);
}

// The backlog of a queue that is served at the rate of the pipeline and asked as the consumer would ask if it never had
// to wait: the time it waits is taken out, so that a buffer that is too shallow does not hide how large the burst is.
void OutletTuner::go_on_with_burst(const Snapshot& now, const Traffic& traffic, std::int64_t taken) {
  double since = now_s_ - std::exchange(active_s_, now_s_);
  if (since >= kPause && since > since_s_) {  // the next one: at the last look there was nothing
    taken_ = 0;
    backlog_ = deepest_ = 0;
    since = since_s_;
  }
  taken_ += taken;
  const double waited = static_cast<double>(now.consumer.wait_ns - before_.wait_ns) / 1e9;
  const double ran = std::max(0.0, since - waited);
  const double served = traffic.attainable < kUnbounded ? traffic.attainable * ran : 0;
  backlog_ = std::max(0.0, backlog_ + static_cast<double>(taken) - served);
  deepest_ = std::max(deepest_, backlog_);
}

// A burst is over. Room for more than what is `refilled` until the next one would stay empty.
void OutletTuner::expect_again(double refilled) {
  const auto need = static_cast<std::int64_t>(std::ceil(std::min(deepest_, refilled)));
  if (!expects_burst()) burst_ = burst_taken_ = 0;
  if (need * 2 > burst_) burst_s_ = now_s_;
  burst_ = std::max(burst_, need);
  burst_taken_ = std::max(burst_taken_, taken_);
}

bool OutletTuner::expects_burst() const noexcept { return now_s_ - burst_s_ < kBurstMemory; }

// A quarter of the memory that there is.
std::int64_t OutletTuner::affordable(const Snapshot& now) const {
  const std::int64_t each = now.stages.empty() ? 0 : bytes_of_result(now.stages.back());
  return each > 0 ? std::max(kSmallest, now.memory_limit / 4 / each) : kLongestBurst;
}

std::optional<Wish> OutletTuner::deeper(const Snapshot& now) {
  const std::int64_t depth = now.consumer.prefetch;
  std::int64_t most = std::min(affordable(now), kLongestBurst);
  if (expects_burst() && std::min(burst_, most) > depth) return Wish{std::min(burst_, most), Reason::burst};
  if (expects_burst()) most = std::min(most, burst_taken_);  // more than a whole burst is of no use
  const bool ran_dry = now.consumer.waits > waits_;
  const double full = static_cast<double>(now.consumer.full_ns - full_ns_) / 1e9;
  const bool had_no_room = full > kFullShare * (now_s_ - changed_s_);
  if (ran_dry && had_no_room && depth < most) {
    if (now_s_ - drained_s_ < 2 * pause_s_)
      pause_s_ = std::min(2 * pause_s_, kLongestWatch);  // it was needed after all
    return Wish{std::min(2 * depth, most), Reason::starved_consumer};
  }
  return std::nullopt;
}

std::optional<Wish> OutletTuner::shallower(const Snapshot& now) {
  if (now_s_ - watched_s_ < pause_s_) return std::nullopt;
  const std::int64_t depth = now.consumer.prefetch, unused = depth - most_ready_;
  // Either it never runs low, or it never fills: that end of it is of no use.
  std::int64_t needed = least_ready_ > 1 ? depth - least_ready_ + 1 : unused > depth / 2 ? most_ready_ + 2 : depth;
  if (expects_burst()) needed = std::max(needed, burst_);
  watched_s_ = now_s_;
  most_ready_ = least_ready_ = now.consumer.ready;
  const auto least = static_cast<std::int64_t>(std::ceil(kShallower * static_cast<double>(depth)));
  const std::int64_t to = std::max({needed, least, kSmallest});
  if (to >= depth) return std::nullopt;
  drained_s_ = now_s_;
  return Wish{to, Reason::drained};
}

}  // namespace penstock::autotune
