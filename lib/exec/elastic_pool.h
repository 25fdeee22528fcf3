// ElasticPool: threads for calls that block. It grows when work waits and no thread is idle, up to a cap; threads that have been
// idle for some seconds leave. Work beyond the cap waits in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace penstock::exec {

class ElasticPool {
 public:
  explicit ElasticPool(std::int64_t cap) : cap_(cap) {}
  ~ElasticPool();  // finishes what is queued, joins all threads
  ElasticPool(const ElasticPool&) = delete;
  ElasticPool& operator=(const ElasticPool&) = delete;

  // Runs `work` on one of the threads. It must not throw. If no thread can be made at all, it runs here and now.
  void submit(std::function<void()> work);

  std::int64_t cap() const noexcept { return cap_; }
  std::int64_t threads() const;

 private:
  using Threads = std::list<std::thread>;
  bool grow();
  void serve(Threads::iterator self);
  static void join(Threads& threads);

  const std::int64_t cap_;
  mutable std::mutex mutex_;       // all below; never held while work runs
  std::condition_variable work_;
  std::condition_variable left_;
  std::deque<std::function<void()>> queue_;
  Threads threads_;                // serving
  Threads leaving_;                // past their last touch of the pool but for the unlock; joined by the next to come
  std::int64_t idle_ = 0;
  bool closing_ = false;
};

}  // namespace penstock::exec
