#include "lib/exec/outlet.h"

#include <algorithm>
#include <utility>

#include "lib/exec/group.h"

namespace penstock::exec {

void Outlet::receive(Packet& packet) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    const auto count = static_cast<std::int64_t>(packet.slots.size());
    if (!arrivals_.add(packet.slots)) return arrived_->notify_all();
    const std::int64_t ready = ready_.fetch_add(count, std::memory_order_relaxed) + count;
    room_.receive(count, packet.worth_waiting);
    wake = is_worth_waking(packet, ready);
    if (wake) wait_.call();
  }
  if (wake) arrived_->notify_all();
}

// While more is about to come the consumer sleeps on, until half of what may wait is there or some time has passed. Of
// tiny slots several groups may wait: half of one is enough, or a consumer that is as fast as the rest stands still too
// long.
bool Outlet::is_worth_waking(const Packet& packet, std::int64_t ready) const {
  if (!wait_.is_under_way() || ready <= 0) return false;
  return !packet.more_soon || 2 * ready >= std::min(room_.capacity(), kLargestGroup) ||
         !wait_.was_called_within(ConsumerWait::kBetweenCalls);
}

bool Outlet::pop(Slot& slot, std::int64_t& credits) {
  credits = 0;
  if (hand_.empty() && !refill(credits)) return false;
  slot = std::move(hand_.next());
  if (hand_.has_to_report()) {
    MutexLock lock(mutex_);
    credits += report();
  }
  return true;
}

void Outlet::count_taken(bool is_mark) noexcept {
  ready_.fetch_sub(1, std::memory_order_relaxed);
  if (!is_mark) taken_.fetch_add(1, std::memory_order_relaxed);
}

bool Outlet::refill(std::int64_t& credits) {
  clock_.called_here();
  trace_.end();
  Slots& room = hand_.make_room();
  {
    MutexLock lock(mutex_);
    credits = report();
    if (!arrivals_.take(room)) return false;
  }
  trace_.begin(hand_.slots());
  return true;
}

std::int64_t Outlet::report() {
  const std::int64_t taken = hand_.report(room_.capacity() / 4);
  return room_.take(taken, arrivals_.empty());
}

std::int64_t Outlet::top_up() {
  MutexLock lock(mutex_);
  return room_.top_up();
}

void Outlet::clear() {
  trace_.end();
  hand_.let_go();
  for (bool more = true; more;) {  // one at a time: there may be no memory for a list of them
    Slots gone;
    MutexLock lock(mutex_);
    more = arrivals_.take(gone);
    ready_.store(0, std::memory_order_relaxed);
  }
}

bool Outlet::wait(std::int64_t deadline, std::chrono::nanoseconds first_look, const WhileWaiting& look) {
  std::int64_t start = 0;
  bool arrived = false;
  {
    MutexLock lock(mutex_);
    if (arrivals_.has_news()) return true;
    start = wait_.begin();
    for (std::int64_t next_look = start + first_look.count();
         !sleep_until(std::min(deadline, next_look)) && next_look <= deadline;) {
      if (!arrivals_.empty()) break;  // it is awake now: what is there need not wait for more
      next_look = look_without_lock(look);
    }
    // A consumer that asks again and again with short deadlines would never wait until a look is due.
    if (arrivals_.empty() && machine_.now() - looked_ns_ >= first_look.count()) look_without_lock(look);
    wait_.end();
    arrived = arrivals_.has_news();
  }
  trace_.waited(start);
  return arrived;
}

// True: the consumer is to go on before that moment.
bool Outlet::sleep_until(std::int64_t moment) {
  while (!arrivals_.failure() && (arrivals_.empty() || !wait_.is_worth_ending())) {
    if (machine_.now() >= moment) return false;
    arrived_->wait_until(mutex_, moment);
  }
  return true;
}

// Returns when to look again.
std::int64_t Outlet::look_without_lock(const WhileWaiting& look) {
  const MutexUnlock unlock(mutex_);
  const std::chrono::nanoseconds pause = look();
  looked_ns_ = machine_.now();
  return looked_ns_ + pause.count();
}

void Outlet::nudge() { wake_after(ConsumerWait::kBetweenCalls); }
void Outlet::wake() { wake_after(0); }

void Outlet::wake_after(std::int64_t pause_ns) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    wake = wait_.is_under_way() && !arrivals_.empty() && !wait_.was_called_within(pause_ns);
    if (wake) wait_.call();
  }
  if (wake) arrived_->notify_all();
}

void Outlet::fail(std::exception_ptr cause) noexcept {
  {
    MutexLock lock(mutex_);
    arrivals_.fail(std::move(cause));
  }
  arrived_->notify_all();
}

std::exception_ptr Outlet::failure() const noexcept {
  MutexLock lock(mutex_);
  return arrivals_.failure();
}

void Outlet::set_depth(std::int64_t depth) {
  MutexLock lock(mutex_);
  room_.set_depth(depth);
}

std::int64_t Outlet::depth() const {
  MutexLock lock(mutex_);
  return room_.depth();
}

void Outlet::snapshot(ConsumerSnapshot& out) const {
  clock_.snapshot(out);
  MutexLock lock(mutex_);
  wait_.snapshot(out);
  out.taken = taken_.load(std::memory_order_relaxed);
  out.full_ns = room_.full_ns();
  out.ready = ready_.load(std::memory_order_relaxed);
  out.prefetch = room_.depth();
}

}  // namespace penstock::exec
