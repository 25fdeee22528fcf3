#include "autotune/give_way.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autotune/numbers.h"

namespace penstock::autotune {
namespace {

constexpr double kComputing = 0.08, kNotComputing = 0.03;  // cores, of the consumer; between the two it is as it was
constexpr double kServed = 0.1, kStarved = 0.3;            // of its time, that a consumer waits
constexpr double kPriorityPause = 1;                       // s between two changes of the priority
constexpr double kWatched = 1;        // s of a consumer's delay that are judged at once: read every 0.1 s
constexpr double kMissed = 0.2;       // s between two looks that do not belong together
constexpr double kSlowed = 0.05;      // of its step, that a consumer is ready to run and no core is free
constexpr double kStep = 0.8;         // of the permits, a step
constexpr double kLongestHold = 240;  // s
constexpr double kMostPermits = 1e9;  // permits: a number at least

}  // namespace

std::optional<Wish> GiveWay::priority(const Snapshot& now, const Traffic& traffic, std::int64_t stands) {
  const double cores = now.cpu_budget - traffic.cpus;  // its own
  std::int64_t to = stands;
  if (cores > kComputing && traffic.wait_share < kServed) to = 1;
  if (cores < kNotComputing || traffic.wait_share > kStarved) to = 0;
  const double now_s = seconds(now.time_ns);
  if (to == stands || now_s - priority_moved_s_ < kPriorityPause) return std::nullopt;
  priority_moved_s_ = now_s;
  return Wish{to, to == 1 ? Reason::consumer_slowed : Reason::starved_consumer};
}

void GiveWay::watch_from(const Snapshot& now) {
  from_s_ = seconds(now.time_ns);
  from_delay_ns_ = now.consumer.delay_ns;
}

// Share of a whole second in which the consumer was ready to run and had no core; none: not known yet.
std::optional<double> GiveWay::slowed(const Snapshot& now, const Traffic& traffic) {
  const double now_s = seconds(now.time_ns);
  const bool goes_on =
      now_s - std::exchange(looked_s_, now_s) < kMissed && from_delay_ns_ >= 0 && now.consumer.delay_ns >= 0;
  const bool is_watched = goes_on && !traffic.idle && traffic.consumer_is_served();
  if (is_watched && now_s - from_s_ < kWatched) return std::nullopt;
  const double delay = seconds(now.consumer.delay_ns - from_delay_ns_) / (now_s - from_s_);
  watch_from(now);
  return is_watched ? std::optional(delay) : std::nullopt;
}

// Down by steps, up at once.
std::optional<Wish> GiveWay::permits(const Snapshot& now, const Traffic& traffic, const Permits& permits) {
  const auto share = slowed(now, traffic);
  const double now_s = seconds(now.time_ns);
  if (traffic.consumer_waits() && permits.now < permits.most) return all_permits(permits, now_s);
  const bool may_fall = permits.last_resort && traffic.all_known && now_s >= fall_due_s_;
  if (!may_fall || !share || *share < kSlowed) return std::nullopt;
  return fewer(traffic, permits);
}

Wish GiveWay::all_permits(const Permits& permits, double now_s) {
  fall_due_s_ = now_s + pause_s_;
  pause_s_ = std::min(2 * pause_s_, kLongestHold);
  enough_ = std::max(enough_, permits.now + 1);
  return {permits.most, Reason::starved_consumer};
}

// Never below what the consumer takes, or again to what it has starved with.
std::optional<Wish> GiveWay::fewer(const Traffic& traffic, const Permits& permits) const {
  const double needed = std::ceil(std::min(kHeadroom * traffic.demand * traffic.work_s, kMostPermits));
  const double fewer =
      std::max({std::floor(kStep * static_cast<double>(permits.now)), needed, static_cast<double>(enough_)});
  if (fewer >= static_cast<double>(permits.now)) return std::nullopt;
  return Wish{static_cast<std::int64_t>(fewer), Reason::consumer_slowed};
}

}  // namespace penstock::autotune
