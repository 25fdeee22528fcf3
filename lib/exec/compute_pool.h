// ComputePool: the threads of calls that compute, for all runs of the process.
//
// Threads of our own, and not TBB's workers. Those belong to the whole process: a host application's tasks that wait
// for a run may have all of them, and a limit of its own (global_control) may leave none. And TBB wakes as many of an
// arena's workers as it may for a single task, each of which looks for work the longer the wider its arena is
// (stealing_loop_backoff): with 128 threads that took ten times the CPU time of a small task.
//
// The permit gate bounds the tokens that are out, and each of them finds a thread here: there are as many threads as
// there have been tokens out at once. A thread is woken for a token only if those awake do not suffice. Threads that
// have slept for some seconds leave.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/core/cache_line.h"
#include "lib/exec/brief_mutex.h"
#include "lib/exec/packet.h"

namespace penstock::exec {

class Stage;

class ComputePool {
 public:
  ComputePool() = default;
  ~ComputePool() { close(); }  // finishes what is queued, joins all threads
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  // Whose tokens run here. It must not throw.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void run_here(Stage& stage) = 0;
  };

  // Has the client run the stage's token on one of the threads, which then calls token_ends() once. If no thread can be
  // made at all, it runs here and now.
  void submit(Client& client, Stage& stage) EXCLUDES(mutex_);
  // The token's thread has given its CPU permit back and will look for another token at once: nobody need be woken for
  // the next one.
  void token_ends() noexcept { out_.fetch_sub(1, std::memory_order_relaxed); }
  // For a client that runs on one of the threads: its next token, if that is the oldest in the queue; else null.
  Stage* take(const Client& client) EXCLUDES(mutex_);
  // For any thread of the client: one of its tokens, wherever it stands in the queue. Null: it has none there.
  Stage* take_any(const Client& client) EXCLUDES(mutex_);
  // The system has refused a thread, and has given none since: tokens may wait for threads that wait for them.
  bool lacks_threads() const noexcept { return lacks_threads_.load(std::memory_order_relaxed); }

  std::int64_t threads() const EXCLUDES(mutex_);
  std::int64_t wake_ups() const EXCLUDES(mutex_);  // threads made included

 private:
  struct QueuedToken {
    Client* client;
    Stage* stage;
  };
  // A sleeping thread's. Also held by the thread that wakes it, for the sleeper may have left when it is notified.
  struct Bed {
    std::condition_variable_any woken;
    bool is_taken = false;  // under the pool's mutex
  };
  using BedRef = std::shared_ptr<Bed>;
  using Threads = std::list<std::jthread>;  // joined wherever they are let go of, also by an exception
  void serve(Threads::iterator self, const BedRef& bed) EXCLUDES(mutex_);
  void run_tokens() REQUIRES(mutex_);
  QueuedToken pop() REQUIRES(mutex_) { return pop(queue_.begin()); }
  QueuedToken pop(Queue<QueuedToken>::iterator place) REQUIRES(mutex_);
  bool look_around() REQUIRES(mutex_);
  bool sleep(const BedRef& bed) REQUIRES(mutex_);
  BedRef wake_one() REQUIRES(mutex_);
  bool grow() REQUIRES(mutex_);
  void close() EXCLUDES(mutex_);

  alignas(kCacheLine) mutable BriefMutex mutex_;  // never held while a token runs
  std::condition_variable_any left_;
  Queue<QueuedToken> queue_ GUARDED_BY(mutex_);
  Threads threads_ GUARDED_BY(mutex_);  // serving
  // past their last touch of the pool but for the unlock; joined by the next to come
  Threads leaving_ GUARDED_BY(mutex_);
  // the last to fall asleep is the first to be woken: its caches are the warmest
  std::vector<BedRef> asleep_ GUARDED_BY(mutex_);
  alignas(kCacheLine) std::atomic<std::int64_t> out_{
      0};  // tokens that have not ended: no more than threads awake, unless the system gives none
  std::int64_t wake_ups_ GUARDED_BY(mutex_) = 0;
  bool one_looks_around_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> lacks_threads_{false};
  std::atomic<bool> has_queued_{false};  // queue_ is not empty; who looks around reads it without the lock
};

}  // namespace penstock::exec
