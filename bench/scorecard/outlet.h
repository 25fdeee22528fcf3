// Outlet: results that wait for the consumer, with the rules of lib/exec/outlet.h: room is promised in lumps, and a consumer that is faster than
// the pipeline is not woken for each element where the next ones come soon.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/scorecard/stage.h"

namespace penstock::scorecard {

class Outlet {
 public:
  static constexpr Time kBetweenWakes = 8 * kMillisecond;

  // True: the consumer is to be woken, if it waits.
  bool receive(const Lot& lot, bool more_soon, std::int64_t worth_waiting, Time now) {
    account(now);
    lots_.push_back(lot);
    ready_ += lot.count;
    worth_waiting_ = std::min<std::int64_t>(worth_waiting, 1024);
    if (more_soon && 2 * ready_ < capacity() && now - woken_ <= kBetweenWakes) return false;
    woken_ = now;
    return true;
  }

  // At most `most` of what is ready.
  Lot take(std::int64_t most, Time now) {
    account(now);
    Lot& front = lots_.front();
    Lot taken = front;
    if (front.count <= most) {
      lots_.pop_front();
    } else {
      const double share = static_cast<double>(most) / static_cast<double>(front.count);
      taken = {most, front.size * share, static_cast<std::int64_t>(static_cast<double>(front.bytes) * share)};
      front = {front.count - taken.count, front.size - taken.size, front.bytes - taken.bytes};
    }
    ready_ -= taken.count;
    unreported_ += taken.count;
    return taken;
  }

  // Room for the last stage; 0 if it is not worth telling yet.
  std::int64_t top_up() {
    if (ready_ > 0 && unreported_ < std::max<std::int64_t>(capacity() / 4, 1)) return 0;
    promised_ -= unreported_;
    unreported_ = 0;
    const std::int64_t more = capacity() - promised_;
    if (more < (ready_ == 0 ? 1 : std::max<std::int64_t>(capacity() / 2, 1))) return 0;
    promised_ += more;
    return more;
  }
  std::int64_t top_up_all() {
    const std::int64_t more = std::max<std::int64_t>(capacity() - promised_, 0);
    promised_ += more;
    return more;
  }

  void set_depth(std::int64_t depth, Time now) {
    account(now);
    depth_ = std::max<std::int64_t>(depth, 1);
  }
  std::int64_t depth() const noexcept { return depth_; }
  std::int64_t ready() const noexcept { return ready_; }
  Time full(Time now) const noexcept { return full_ + (ready_ >= depth_ ? now - accounted_until_ : 0); }
  bool nudge(Time now) const noexcept { return ready_ > 0 && now - woken_ > kBetweenWakes; }

 private:
  std::int64_t capacity() const noexcept { return std::max(depth_, worth_waiting_); }
  void account(Time now) {
    if (ready_ >= depth_) full_ += now - accounted_until_;
    accounted_until_ = now;
  }

  Ring<Lot> lots_;
  std::int64_t depth_ = 2, ready_ = 0, promised_ = 0, unreported_ = 0, worth_waiting_ = 1;
  Time full_ = 0, accounted_until_ = 0, woken_ = 0;
};

}  // namespace penstock::scorecard
