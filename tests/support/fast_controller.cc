#include "tests/support/fast_controller.h"

#include <chrono>
#include <utility>

namespace penstock::test {

FastController::FastController(std::vector<Knob> knobs, std::function<Snapshot()> look)
    : knobs_(std::move(knobs)),
      look_(std::move(look)),
      policy_(autotune::default_policy()),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

std::int64_t FastController::moves() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return policy_->log().count();
}

void FastController::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    policy_->tick(look_(), knobs_);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace penstock::test
