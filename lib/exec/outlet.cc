#include "lib/exec/outlet.h"

#include <algorithm>
#include <utility>

#include "lib/core/clock.h"

namespace penstock::exec {

// A consumer that is faster than the pipeline would be woken for each element; a wake-up costs as much as several cheap elements.
// So it sleeps on while more is about to come, until half the depth is there.
void Outlet::receive(Packet& packet) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    const auto count = static_cast<std::int64_t>(packet.slots.size());
    const std::int64_t ready = ready_.fetch_add(count, std::memory_order_relaxed) + count;
    if (count > 0) packets_.push_back(std::move(packet.slots));
    worth_waiting_ = std::min(packet.worth_waiting, widest_);
    wake = somebody_waits_ && ready > 0 && (!packet.more_soon || 2 * ready >= capacity());
  }
  if (wake) arrived_.notify_all();
}

// With the lock held.
std::int64_t Outlet::capacity() const { return std::max(depth_, worth_waiting_); }

bool Outlet::pop(Slot& slot, std::int64_t& credits) {
  std::lock_guard lock(mutex_);
  credits = 0;
  if (packets_.empty()) return false;
  slot = std::move(packets_.front()[taken_++]);
  if (taken_ == packets_.front().size()) {
    packets_.pop_front();
    taken_ = 0;
  }
  ready_.fetch_sub(1, std::memory_order_relaxed);
  ++popped_;
  --promised_;
  credits = lump(packets_.empty() ? 1 : std::max<std::int64_t>(capacity() / 2, 1));
  return true;
}

// With the lock held.
std::int64_t Outlet::lump(std::int64_t at_least) {
  const std::int64_t more = capacity() - promised_;
  if (more < at_least) return 0;
  promised_ += more;
  return more;
}

std::int64_t Outlet::top_up() {
  std::lock_guard lock(mutex_);
  return lump(1);
}

void Outlet::clear() {
  std::deque<Slots> gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(packets_);
    taken_ = 0;
    ready_.store(0, std::memory_order_relaxed);
  }
}

bool Outlet::wait(const std::chrono::steady_clock::time_point* deadline) {
  std::unique_lock lock(mutex_);
  if (!packets_.empty()) return true;
  const std::int64_t start = now_ns();
  waiting_since_ = start;
  ++waits_;
  somebody_waits_ = true;
  const auto there = [this] { return !packets_.empty(); };
  bool arrived = true;
  if (deadline == nullptr) {
    arrived_.wait(lock, there);
  } else {
    arrived = arrived_.wait_until(lock, *deadline, there);
  }
  wait_ns_ += now_ns() - start;
  waiting_since_ = 0;
  somebody_waits_ = false;
  return arrived;
}

void Outlet::wait_briefly() {
  std::unique_lock lock(mutex_);
  somebody_waits_ = true;
  arrived_.wait_for(lock, std::chrono::microseconds(200), [this] { return !packets_.empty(); });
  somebody_waits_ = false;
}

void Outlet::nudge() {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    wake = somebody_waits_ && !packets_.empty();
  }
  if (wake) arrived_.notify_all();
}

void Outlet::set_depth(std::int64_t depth) {
  std::lock_guard lock(mutex_);
  depth_ = std::max<std::int64_t>(depth, 1);
}

std::int64_t Outlet::depth() const {
  std::lock_guard lock(mutex_);
  return depth_;
}

void Outlet::snapshot(ConsumerSnapshot& out) const {
  std::lock_guard lock(mutex_);
  out.taken = popped_;
  out.waits = waits_;
  out.waiting = waiting_since_ != 0;
  out.wait_ns = wait_ns_ + (out.waiting ? now_ns() - waiting_since_ : 0);
  out.ready = ready_.load(std::memory_order_relaxed);
  out.prefetch = depth_;
}

}  // namespace penstock::exec
