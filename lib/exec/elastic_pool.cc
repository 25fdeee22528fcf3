#include "lib/exec/elastic_pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "lib/core/cpu_mask.h"

namespace penstock::exec {
namespace {
constexpr auto kIdleTime = std::chrono::seconds(5);
}

void ElasticPool::submit(std::function<void()> work, ClientRef client) {
  Threads gone;  // joined at the end
  bool has_thread = false;
  {
    MutexLock lock(mutex_);
    gone.splice(gone.end(), leaving_);
    const bool unserved = client != nullptr && client->is_unserved();
    const bool found = find_thread(unserved);
    if (client != nullptr) client->refused_ = unserved && !found;
    has_thread = found || !threads_.empty();
    if (has_thread) enqueue(work, std::move(client));
  }
  if (has_thread) {
    work_.notify_one();
  } else {
    work();
  }
}

bool ElasticPool::try_submit(std::function<void()>& work) {
  Threads gone;  // joined at the end
  bool found = false;
  {
    MutexLock lock(mutex_);
    gone.splice(gone.end(), leaving_);
    found = find_thread(true);
    if (found) enqueue(work, std::make_shared<Client>());
  }
  if (found) work_.notify_one();
  return found;
}

// If there is no memory for it in the queue, `call` is as it was.
void ElasticPool::enqueue(std::function<void()>& call, ClientRef client) {
  Work& work = queue_.emplace_back();
  if (client != nullptr) ++client->queued_;
  work = {std::move(call), std::move(client)};
  waiting_.store(static_cast<std::int64_t>(queue_.size()), std::memory_order_relaxed);
}

// Whether there is a thread for one more piece of work: an idle one that nothing else waits for, or a new one.
bool ElasticPool::find_thread(bool may_be_spare) {
  if (idle_ > static_cast<std::int64_t>(queue_.size())) return true;
  const std::int64_t most = cap_ + (may_be_spare ? spare_ : 0);
  return static_cast<std::int64_t>(threads_.size()) < most && grow();
}

// False if the system gives no thread, or no memory for one: then those that there are must suffice.
bool ElasticPool::grow() {
  Threads made;
  try {
    const auto self = made.emplace(made.end());
    *self = std::jthread([this, self] { serve(self); });
  } catch (const std::exception&) {  // std::system_error or std::bad_alloc
    return false;
  }
  threads_.splice(threads_.end(), made);
  return true;
}

void ElasticPool::serve(Threads::iterator self) {
  take_mask_of_process();  // whoever made it may be pinned to a core
  MutexLock lock(mutex_);
  for (auto next = next_work(); next != queue_.end(); next = next_work()) run(next);
  leaving_.splice(leaving_.end(), threads_, self);
  if (threads_.empty()) left_.notify_all();
}

// The end of the queue, if this thread is to leave. For each client without a thread one is about to come, or has just
// done its last work; which thread serves which client does not matter.
ElasticPool::Queue::iterator ElasticPool::next_work() {
  const bool leaves = is_beyond_cap();
  if (!leaves) {
    ++idle_;
    work_.wait_for(mutex_, kIdleTime, [this]() REQUIRES(mutex_) { return closing_ || !queue_.empty(); });
    --idle_;
  }
  const auto unserved =
      std::ranges::find_if(queue_, [](const Work& work) { return work.client && work.client->running_ == 0; });
  return leaves || unserved != queue_.end() ? unserved : queue_.begin();
}

void ElasticPool::run(Queue::iterator place) {
  Work work = std::move(*place);
  queue_.erase(place);
  waiting_.store(static_cast<std::int64_t>(queue_.size()), std::memory_order_relaxed);
  if (work.client != nullptr) {
    --work.client->queued_;
    ++work.client->running_;
  }
  {
    const MutexUnlock unlock(mutex_);
    work.call();
    work.call = nullptr;
  }
  if (work.client != nullptr) --work.client->running_;
}

// Apart from the destructor, in which clang looks at no lock.
void ElasticPool::close() {
  Threads gone;  // joined at the end
  {
    MutexLock lock(mutex_);
    closing_ = true;
    work_.notify_all();
    while (!threads_.empty()) left_.wait(mutex_);
    gone.swap(leaving_);
  }
}

std::int64_t ElasticPool::threads() const {
  MutexLock lock(mutex_);
  return static_cast<std::int64_t>(threads_.size());
}

}  // namespace penstock::exec
