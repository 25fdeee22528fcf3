#include "tests/exam/device.h"

#include <algorithm>
#include <cmath>

namespace penstock::exam {

void Device::request(double time, double calls, Client& client) {
  if (!spec_.rates.empty()) {
    advance();
    crowd_.add(calls, client);
    return expect_next();
  }
  const Request request{time, &client};
  if (spec_.slots > 0 && busy_ >= spec_.slots) return queue_.push_back(request);
  begin(request);
}

void Device::begin(const Request& request) {
  ++busy_;
  events_.add(now_ + static_cast<Time>(request.time), *request.client);
}

void Device::leave() {
  if (!spec_.rates.empty()) return;
  --busy_;
  if (queue_.empty()) return;
  const Request next = queue_.front();
  queue_.pop_front();
  begin(next);
}

double Device::rate_each() const {
  const std::size_t crowd = crowd_.jobs();
  return spec_.rates[std::min(crowd, spec_.rates.size()) - 1] / static_cast<double>(crowd) * 1e-9;
}

void Device::advance() {
  if (crowd_.jobs() > 0) crowd_.serve(rate_each() * static_cast<double>(now_ - served_until_));
  served_until_ = now_;
}

void Device::expect_next() {
  next_ = crowd_.jobs() > 0 ? now_ + static_cast<Time>(std::ceil(crowd_.least_left() / rate_each())) : kNever;
  if (next_ != kNever) events_.add(next_, *this);
}

// Time and again it is woken in vain: the crowd has changed since that was foreseen.
void Device::wake() {
  if (now_ != next_) return;
  advance();
  Client* served = crowd_.take_finished(1e-9);
  expect_next();
  if (served != nullptr) served->wake();
}

}  // namespace penstock::exam
