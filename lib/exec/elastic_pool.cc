#include "lib/exec/elastic_pool.h"

#include <chrono>
#include <system_error>
#include <utility>

namespace penstock::exec {
namespace {
constexpr auto kIdleTime = std::chrono::seconds(5);
}

void ElasticPool::submit(std::function<void()> work) {
  Threads gone;
  {
    std::unique_lock lock(mutex_);
    gone.splice(gone.end(), leaving_);
    queue_.push_back(std::move(work));
    const auto waiting = static_cast<std::int64_t>(queue_.size());
    const bool short_of_threads = waiting > idle_ && static_cast<std::int64_t>(threads_.size()) < cap_;
    if (short_of_threads && !grow() && threads_.empty()) {
      work = std::move(queue_.back());
      queue_.pop_back();
      lock.unlock();
      work();
      return join(gone);
    }
  }
  work_.notify_one();
  join(gone);
}

// With the lock held. False if the system gives no thread: then the ones there are have to do.
bool ElasticPool::grow() {
  threads_.emplace_back();
  const auto self = std::prev(threads_.end());
  try {
    *self = std::thread([this, self] { serve(self); });
    return true;
  } catch (const std::system_error&) {
    threads_.erase(self);
    return false;
  }
}

void ElasticPool::serve(Threads::iterator self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool woken = work_.wait_for(lock, kIdleTime, [this] { return closing_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty() && (closing_ || !woken)) break;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  leaving_.splice(leaving_.end(), threads_, self);
  if (threads_.empty()) left_.notify_all();
}

void ElasticPool::join(Threads& threads) {
  for (std::thread& thread : threads) thread.join();
}

ElasticPool::~ElasticPool() {
  Threads gone;
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
    work_.notify_all();
    left_.wait(lock, [this] { return threads_.empty(); });
    gone.swap(leaving_);
  }
  join(gone);
}

std::int64_t ElasticPool::threads() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(threads_.size());
}

}  // namespace penstock::exec
