#include "lib/exec/compute_pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "lib/core/cpu_mask.h"

namespace penstock::exec {
namespace {
constexpr auto kIdleTime = std::chrono::seconds(5);
constexpr int kLooks = 100;  // some 50 us on an idle core
}  // namespace

void ComputePool::submit(Client& client, Stage& stage) {
  Threads gone;  // joined at the end
  BedRef woken;
  bool has_thread = false;
  {
    MutexLock lock(mutex_);
    gone.splice(gone.end(), leaving_);
    queue_.push_back({&client, &stage});  // first: it may find no memory
    const auto awake = static_cast<std::int64_t>(threads_.size() - asleep_.size());
    if (++out_ > awake) woken = wake_one();
    has_thread = out_ <= awake || woken != nullptr || grow() || !threads_.empty();
    if (has_thread) {
      has_queued_.store(true, std::memory_order_relaxed);
    } else {
      queue_.pop_back();
    }
  }
  if (!has_thread) client.run_here(stage);
  if (woken != nullptr) woken->woken.notify_one();  // without the lock, which the other takes first of all
}

Stage* ComputePool::take(const Client& client) {
  MutexLock lock(mutex_);
  return !queue_.empty() && queue_.front().client == &client ? pop().stage : nullptr;
}

Stage* ComputePool::take_any(const Client& client) {
  MutexLock lock(mutex_);
  const auto place = std::ranges::find(queue_, &client, &QueuedToken::client);
  return place == queue_.end() ? nullptr : pop(place).stage;
}

ComputePool::QueuedToken ComputePool::pop(Queue<QueuedToken>::iterator place) {
  const QueuedToken token = *place;
  queue_.erase(place);
  has_queued_.store(!queue_.empty(), std::memory_order_relaxed);
  return token;
}

// None: all are awake.
ComputePool::BedRef ComputePool::wake_one() {
  if (asleep_.empty()) return nullptr;
  BedRef bed = std::move(asleep_.back());
  asleep_.pop_back();
  bed->is_taken = false;
  ++wake_ups_;
  return bed;
}

// False if the system gives no thread, or no memory for one: then those that there are must suffice.
bool ComputePool::grow() {
  Threads made;
  try {
    asleep_.reserve(threads_.size() + 1);
    const auto self = made.emplace(made.end());
    *self = std::jthread([this, self, bed = std::make_shared<Bed>()] { serve(self, bed); });
  } catch (const std::exception&) {  // std::system_error or std::bad_alloc
    lacks_threads_ = true;
    return false;
  }
  lacks_threads_ = false;
  threads_.splice(threads_.end(), made);
  ++wake_ups_;
  return true;
}

void ComputePool::serve(Threads::iterator self, const BedRef& bed) {
  take_mask_of_process();  // whoever made it may be pinned to a core
  MutexLock lock(mutex_);
  do {
    run_tokens();
  } while (!closing_ && (look_around() || sleep(bed)));
  leaving_.splice(leaving_.end(), threads_, self);
  if (threads_.empty()) left_.notify_all();
}

void ComputePool::run_tokens() {
  while (!queue_.empty()) {
    const QueuedToken token = pop();
    const MutexUnlock unlock(mutex_);
    token.client->run_here(*token.stage);
  }
}

// The next token often comes within some microseconds, and to sleep and be woken costs as many. One thread at a time,
// however many there are: the CPU time that this takes must not grow with them. True: there is something to do.
bool ComputePool::look_around() {
  if (std::exchange(one_looks_around_, true)) return false;
  {
    const MutexUnlock unlock(mutex_);
    for (int look = 0; look < kLooks && !has_queued_.load(std::memory_order_relaxed); ++look) std::this_thread::yield();
  }
  one_looks_around_ = false;
  return !queue_.empty();
}

// False: nobody has woken it for long, or nobody will.
bool ComputePool::sleep(const BedRef& bed) {
  if (closing_) return false;
  asleep_.push_back(bed);
  bed->is_taken = true;
  if (bed->woken.wait_for(mutex_, kIdleTime, [&bed] { return !bed->is_taken; })) return true;
  std::erase(asleep_, bed);
  return false;
}

// Apart from the destructor, in which clang looks at no lock.
void ComputePool::close() {
  Threads gone;  // joined at the end
  {
    MutexLock lock(mutex_);
    closing_ = true;
    while (const BedRef bed = wake_one()) bed->woken.notify_one();
    while (!threads_.empty()) left_.wait(mutex_);
    gone.swap(leaving_);
  }
}

std::int64_t ComputePool::threads() const {
  MutexLock lock(mutex_);
  return static_cast<std::int64_t>(threads_.size());
}

std::int64_t ComputePool::wake_ups() const {
  MutexLock lock(mutex_);
  return wake_ups_;
}

}  // namespace penstock::exec
