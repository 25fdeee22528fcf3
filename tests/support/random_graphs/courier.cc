#include "tests/support/random_graphs/courier.h"

#include <chrono>
#include <utility>

namespace random_graphs {

void Parcel::deliver() {
  ps::Completion answer = std::move(completion);  // gone at the end of this call, answered or not
  if (lost) return;
  // Moved: TSan cannot see how the C++ library counts the owners of an exception.
  if (error) return answer.fail(std::move(error));
  if (values.size() == 1) return answer.complete(std::move(values.front()));
  answer.complete_many(std::move(values));
}

ThreadCourier::ThreadCourier(std::uint64_t seed) : random_(seed), thread_([this] { work(); }) {}

ThreadCourier::~ThreadCourier() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ThreadCourier::send(std::unique_ptr<Parcel> parcel) {
  {
    std::lock_guard lock(mutex_);
    parcels_.push_back(std::move(parcel));
  }
  changed_.notify_all();
}

void ThreadCourier::hold() {
  std::lock_guard lock(mutex_);
  held_ = true;
}

std::int64_t ThreadCourier::release() {
  std::unique_lock lock(mutex_);
  held_ = false;
  const auto late = static_cast<std::int64_t>(parcels_.size());
  lock.unlock();
  changed_.notify_all();
  return late;
}

void ThreadCourier::wait_for_one() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return held_ && !parcels_.empty(); });
}

void ThreadCourier::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || (!held_ && !parcels_.empty()); });
    if (stopping_) return;
    const auto chosen = parcels_.begin() + random_.below(static_cast<std::int64_t>(parcels_.size()));
    std::unique_ptr<Parcel> parcel = std::move(*chosen);
    parcels_.erase(chosen);
    const bool dawdles = random_.one_in(8);
    lock.unlock();
    if (dawdles) std::this_thread::sleep_for(std::chrono::microseconds(50));
    parcel->deliver();
    parcel.reset();
    lock.lock();
  }
}

}  // namespace random_graphs
