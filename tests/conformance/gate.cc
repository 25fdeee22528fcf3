#include "tests/conformance/gate.h"

namespace conformance {

void Gate::arrive(std::int64_t place, ps::Element element, ps::Completion completion) {
  std::unique_lock lock(mutex_);
  if (place >= open_) {
    waiting_.emplace(place, Waiting(std::move(element), std::move(completion)));
    return;
  }
  lock.unlock();
  completion.complete(std::move(element));
}

void Gate::open_for(std::int64_t places) {
  std::vector<Waiting> passing;
  {
    const std::lock_guard lock(mutex_);
    open_ = places;
    const auto end = waiting_.lower_bound(places);
    for (auto at = waiting_.begin(); at != end; ++at) passing.push_back(std::move(at->second));
    waiting_.erase(waiting_.begin(), end);
  }
  for (auto& [element, completion] : passing) completion.complete(std::move(element));
}

void Gate::clear() {
  std::multimap<std::int64_t, Waiting> gone;  // destroyed behind the lock
  const std::lock_guard lock(mutex_);
  gone.swap(waiting_);
}

}  // namespace conformance
