// ElasticPool: threads for calls that block. It grows when work waits and no thread is idle, up to a cap; threads that
// have been idle for some seconds leave. Work beyond the cap waits in order.
//
// With one exception. The work on all threads may itself wait for work that stands in line here, by way of a thread of
// the user's, where nobody sees it. So a client (a run) with work here is never left without a thread, as long as the
// system gives any: there are spare ones beyond the cap. A thread that looks for work first takes that of a client whom
// no thread serves. While there are more threads than the cap, it takes no other work, and leaves.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include <penstock/detail/pooled.h>

#include "lib/base/mutex.h"

namespace penstock::exec {

class ElasticPool {
 public:
  // Whose work it is. Held by the one who submits, and by each piece of work, which may outlive the former.
  class Client {
    friend class ElasticPool;
    bool is_unserved() const noexcept { return running_ == 0 && (queued_ == 0 || refused_); }

    std::int64_t queued_ = 0;  // these three: under the pool's mutex
    std::int64_t running_ = 0;
    bool refused_ = false;  // there was no thread for it: its next work asks again
  };
  using ClientRef = std::shared_ptr<Client>;

  // `spare`: threads beyond the cap.
  explicit ElasticPool(std::int64_t cap, std::int64_t spare = 0) : cap_(cap), spare_(spare) {}
  ~ElasticPool() { close(); }  // finishes what is queued, joins all threads
  ElasticPool(const ElasticPool&) = delete;
  ElasticPool& operator=(const ElasticPool&) = delete;

  // Runs `work` on one of the threads. It must not throw. If no thread can be made at all, it runs here and now. Work
  // without a client waits its turn.
  void submit(std::function<void()> work, ClientRef client = nullptr) EXCLUDES(mutex_);
  // The same for a client who has nothing else here, and never on the caller's thread. False, and `work` is as it was,
  // if there is no idle thread and none can be made.
  bool try_submit(std::function<void()>& work) EXCLUDES(mutex_);

  // Work waits for a thread: who could go on for long comes again later. A guess, without a lock.
  bool is_wanted() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }
  std::int64_t cap() const noexcept { return cap_; }
  std::int64_t threads() const EXCLUDES(mutex_);

 private:
  using Threads = std::list<std::jthread>;  // joined wherever they are let go of, also by an exception
  struct Work {
    std::function<void()> call;
    ClientRef client;  // null: nobody's
  };
  using Queue = std::deque<Work, detail::PooledAllocator<Work>>;
  void enqueue(std::function<void()>& call, ClientRef client) REQUIRES(mutex_);
  bool find_thread(bool may_be_spare) REQUIRES(mutex_);
  bool grow() REQUIRES(mutex_);
  void serve(Threads::iterator self) EXCLUDES(mutex_);
  Queue::iterator next_work() REQUIRES(mutex_);
  void run(Queue::iterator place) REQUIRES(mutex_);
  bool is_beyond_cap() const REQUIRES(mutex_) { return static_cast<std::int64_t>(threads_.size()) > cap_; }
  void close() EXCLUDES(mutex_);

  const std::int64_t cap_;
  const std::int64_t spare_;
  mutable Mutex mutex_;  // never held while work runs
  CondVar work_;
  CondVar left_;
  Queue queue_ GUARDED_BY(mutex_);
  std::atomic<std::int64_t> waiting_{0};  // in queue_
  Threads threads_ GUARDED_BY(mutex_);    // serving
  // past their last touch of the pool but for the unlock; joined by the next to come
  Threads leaving_ GUARDED_BY(mutex_);
  std::int64_t idle_ GUARDED_BY(mutex_) = 0;
  bool closing_ GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::exec
