#include "lib/exec/outlet.h"

#include <algorithm>
#include <utility>

namespace penstock::exec {

namespace {
constexpr std::int64_t kBetweenWakes = 8'000'000;  // ns: a wake-up that interrupts a worker costs some 20 us
constexpr std::int64_t kMoment = 200'000;          // ns
}

// A consumer that is faster than the pipeline would be woken for each element. So it sleeps on while more is about to come, until half
// the depth is there or some time has passed since it was woken last.
void Outlet::receive(Packet& packet) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    const auto count = static_cast<std::int64_t>(packet.slots.size());
    if (!keep(packet.slots)) return arrived_->notify_all();
    const std::int64_t ready = ready_.fetch_add(count, std::memory_order_relaxed) + count;
    worth_waiting_ = std::min(packet.worth_waiting, widest_);
    held_ += count;
    account_full();
    wake = somebody_waits_ && ready > 0 && (!packet.more_soon || 2 * ready >= capacity() || machine_.now() - woken_ns_ > kBetweenWakes);
    if (wake) call_consumer();
  }
  if (wake) arrived_->notify_all();
}

// False: there is no memory for one packet more, or was none for one before this.
bool Outlet::keep(Slots& slots) noexcept {
  if (failure_) return false;
  try {
    if (!slots.empty()) packets_.push_back(std::move(slots));
  } catch (...) {
    failure_ = detail::current_failure();
  }
  return !failure_;
}

void Outlet::call_consumer() {
  woken_ns_ = machine_.now();
  is_called_ = true;
}

// Nobody calls where more was promised that did not come.
bool Outlet::is_worth_waking() const { return failure_ || (!packets_.empty() && (is_called_ || machine_.now() - woken_ns_ > kBetweenWakes)); }

std::int64_t Outlet::capacity() const { return std::max(depth_, worth_waiting_); }

bool Outlet::pop(Slot& slot, std::int64_t& credits) {
  credits = 0;
  if (own_taken_ == own_.size() && !refill(credits)) return false;
  slot = std::move(own_[own_taken_++]);
  if (++unreported_ >= report_at_ || own_taken_ == own_.size()) {
    MutexLock lock(mutex_);
    credits += report();
  }
  return true;
}

void Outlet::count_taken(bool is_mark) noexcept {
  ready_.fetch_sub(1, std::memory_order_relaxed);
  if (!is_mark) taken_.fetch_add(1, std::memory_order_relaxed);
}

// Takes the oldest packet into the consumer's own hands: it would otherwise meet the last stage at the lock for each element.
bool Outlet::refill(std::int64_t& credits) {
  clock_.called_here();
  trace_.end();
  own_.clear();
  own_taken_ = 0;
  {
    MutexLock lock(mutex_);
    credits = report();
    if (packets_.empty()) return false;
    std::swap(own_, packets_.front());
    packets_.pop_front();
  }
  trace_.begin(own_);
  return true;
}

// After each change of what is promised or has come. The clock is looked at when it becomes full and when it no longer is.
void Outlet::account_full() {
  const bool full = held_ > 0 && held_ >= promised_;
  if (full == (full_since_ != 0)) return;
  const std::int64_t now = machine_.now();
  if (!full) full_ns_ += now - full_since_;
  full_since_ = full ? now : 0;
}

// What the consumer has taken makes room for as much.
std::int64_t Outlet::report() {
  held_ -= unreported_;
  promised_ -= std::exchange(unreported_, 0);
  report_at_ = std::max<std::int64_t>(capacity() / 4, 1);
  return lump(packets_.empty() ? 1 : std::max<std::int64_t>(capacity() / 2, 1));
}

std::int64_t Outlet::lump(std::int64_t at_least) {
  const std::int64_t room = capacity() - promised_;
  const std::int64_t more = room < at_least ? 0 : room;
  promised_ += more;
  account_full();
  return more;
}

std::int64_t Outlet::top_up() {
  MutexLock lock(mutex_);
  return lump(1);
}

void Outlet::clear() {
  trace_.end();
  Queue<Slots> gone;
  {
    MutexLock lock(mutex_);
    gone.swap(packets_);
    gone.push_back(std::exchange(own_, {}));
    own_taken_ = 0;
    ready_.store(0, std::memory_order_relaxed);
  }
}

bool Outlet::wait(std::int64_t deadline, std::chrono::nanoseconds first_look, const Look& look) {
  std::int64_t start = 0;
  bool arrived = false;
  {
    MutexLock lock(mutex_);
    if (!packets_.empty() || failure_) return true;
    start = machine_.now();
    waiting_since_ = start;
    ++waits_;
    somebody_waits_ = true;
    is_called_ = false;
    for (std::int64_t next_look = start + first_look.count(); !sleep_until(std::min(deadline, next_look)) && next_look <= deadline;) {
      if (!packets_.empty()) break;  // it is awake now: what is there need not wait for more
      next_look = look_without_lock(look);
    }
    // Who asks again and again for a moment only never waits until a look is due.
    if (packets_.empty() && machine_.now() - looked_ns_ >= first_look.count()) look_without_lock(look);
    wait_ns_ += machine_.now() - start;
    waiting_since_ = 0;
    somebody_waits_ = false;
    arrived = !packets_.empty() || failure_;
  }
  trace_.waited(start);
  return arrived;
}

// True: it is worth waking before that moment.
bool Outlet::sleep_until(std::int64_t moment) {
  while (!is_worth_waking()) {
    if (machine_.now() >= moment) return false;
    arrived_->wait_until(mutex_, moment);
  }
  return true;
}

// When to look again.
std::int64_t Outlet::look_without_lock(const Look& look) {
  const MutexUnlock unlock(mutex_);
  const std::chrono::nanoseconds pause = look();
  looked_ns_ = machine_.now();
  return looked_ns_ + pause.count();
}

void Outlet::wait_briefly() {
  MutexLock lock(mutex_);
  somebody_waits_ = true;
  if (packets_.empty()) arrived_->wait_until(mutex_, machine_.now() + kMoment);
  somebody_waits_ = false;
}

void Outlet::nudge() { wake_after(kBetweenWakes); }
void Outlet::wake() { wake_after(0); }

// The first one tells; others follow from it.
void Outlet::fail(std::exception_ptr cause) noexcept {
  {
    MutexLock lock(mutex_);
    if (!failure_) failure_ = std::move(cause);
  }
  arrived_->notify_all();
}

std::exception_ptr Outlet::failure() const noexcept {
  MutexLock lock(mutex_);
  return failure_;
}

void Outlet::wake_after(std::int64_t pause_ns) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    wake = somebody_waits_ && !packets_.empty() && machine_.now() - woken_ns_ > pause_ns;
    if (wake) call_consumer();
  }
  if (wake) arrived_->notify_all();
}

void Outlet::set_depth(std::int64_t depth) {
  MutexLock lock(mutex_);
  depth_ = std::max<std::int64_t>(depth, 1);
}

std::int64_t Outlet::depth() const {
  MutexLock lock(mutex_);
  return depth_;
}

void Outlet::snapshot(ConsumerSnapshot& out) const {
  clock_.snapshot(out);
  MutexLock lock(mutex_);
  out.taken = taken_.load(std::memory_order_relaxed);
  out.waits = waits_;
  out.waiting = waiting_since_ != 0;
  out.wait_ns = wait_ns_ + (out.waiting ? machine_.now() - waiting_since_ : 0);
  out.full_ns = full_ns_ + (full_since_ == 0 ? 0 : machine_.now() - full_since_);
  out.ready = ready_.load(std::memory_order_relaxed);
  out.prefetch = depth_;
}

}  // namespace penstock::exec
