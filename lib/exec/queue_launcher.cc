#include "lib/exec/queue_launcher.h"

#include <algorithm>
#include <utility>

#include "lib/core/machine.h"
#include "lib/exec/outlet.h"
#include "lib/exec/stage.h"

namespace penstock::exec {

void QueueLauncher::connect(const std::vector<Stage*>& stages, const Edges&, Outlet& outlet) {
  stages_ = stages;
  outlet_ = &outlet;
}

void QueueLauncher::launch(Stage& stage, bool on_pool) {
  {
    MutexLock lock(mutex_);
    tokens_.push_back({&stage, on_pool});
  }
  arrived_.notify_one();
}

void QueueLauncher::send(const Edge& edge, PacketRef packet) {
  if (edge.to != kOutlet) {
    stages_[edge.to]->receive(edge.port, std::move(packet->slots));
  } else {
    outlet_->receive(*packet);
    { MutexLock lock(mutex_); }  // a consumer that has just looked at the outlet is asleep from here on
    arrived_.notify_one();
  }
}

void QueueLauncher::give_credits(const Edge& edge, std::int64_t count) { stages_[edge.from]->add_credits(count); }

std::size_t QueueLauncher::choose() const {
  if (choice_ == nullptr) {
    const auto best = std::max_element(
        tokens_.begin(), tokens_.end(),
        [](const WaitingToken& a, const WaitingToken& b) { return a.stage->traits().index < b.stage->traits().index; });
    return static_cast<std::size_t>(best - tokens_.begin());
  }
  std::vector<std::size_t> stages;
  for (const WaitingToken& token : tokens_) stages.push_back(token.stage->traits().index);
  return choice_(stages);
}

bool QueueLauncher::run_one() {
  WaitingToken token{};
  {
    MutexLock lock(mutex_);
    if (tokens_.empty()) return false;
    const auto place = tokens_.begin() + static_cast<std::ptrdiff_t>(choose());
    token = *place;
    tokens_.erase(place);
  }
  token.stage->run_token(token.on_pool);
  return true;
}

bool QueueLauncher::wait_for(std::chrono::nanoseconds) {
  while (run_one()) {
  }
  return true;
}

bool QueueLauncher::pump(std::int64_t deadline) {
  if (!run_one()) return wait_for_token(deadline);
  return outlet_->has_slots() || deadline == kNever || system_machine().now() < deadline;
}

void QueueLauncher::stop_waiting() {
  {
    MutexLock lock(mutex_);
    is_woken_ = true;
  }
  arrived_.notify_one();
}

// What another thread brings, a Completion: a token, or a slot at the outlet. False: the deadline has passed.
bool QueueLauncher::wait_for_token(std::int64_t deadline) {
  using Moment = std::chrono::steady_clock::time_point;
  MutexLock lock(mutex_);
  while (!has_something()) {
    if (deadline == kNever) {
      arrived_.wait(mutex_);
    } else if (!arrived_.wait_until(mutex_, Moment(std::chrono::nanoseconds(deadline)))) {
      return has_something();
    }
  }
  return true;
}

bool QueueLauncher::has_something() const { return is_woken_ || !tokens_.empty() || outlet_->has_slots(); }

}  // namespace penstock::exec
