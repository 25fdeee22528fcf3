#include "tests/exam/processor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::exam {
namespace {

constexpr double kLossPerThread = 0.0005;  // of the speed, for each thread more than there are cores
constexpr double kSlowest = 0.5;
constexpr double kSlack = 0.01;  // ns

struct Kind {
  double count, weight, rate = 0;
};

// By weight, at most one core each; what one kind cannot use goes to the others.
template <std::size_t N> void fill(double cores, std::array<Kind, N>& kinds) {
  std::array<bool, N> whole = {};
  for (std::size_t round = 0; round <= N; ++round) {
    double weights = 0;
    double left = cores;
    for (std::size_t i = 0; i < N; ++i) whole[i] ? left -= kinds[i].count : weights += kinds[i].count * kinds[i].weight;
    bool again = false;
    for (std::size_t i = 0; i < N; ++i) {
      if (whole[i] || kinds[i].count == 0) continue;
      kinds[i].rate = std::min(left * kinds[i].weight / weights, 1.0);
      if (left * kinds[i].weight > weights) whole[i] = again = true;
    }
    if (!again) return;
  }
}

}  // namespace

// The last one is everybody else's.
void Processor::share_out() {
  std::array<Kind, kKinds + 1> all = {};
  for (std::size_t i = 0; i < kKinds; ++i)
    all[i] = {static_cast<double>(server_[i].jobs()), i == workers ? worker_weight_ : 1};
  all[kKinds] = {static_cast<double>(foreign_), 1};
  fill(cores_, all);
  double ours = 0, threads = all[kKinds].count;
  for (std::size_t i = 0; i < kKinds; ++i) ours += all[i].count * all[i].rate, threads += all[i].count;
  if (ours > quota_) {
    std::array<Kind, kKinds> own = {};
    std::copy_n(all.begin(), kKinds, own.begin());
    fill(quota_, own);
    std::ranges::copy(own, all.begin());
    if (foreign_ > 0) all[kKinds].rate = std::min(1.0, (cores_ - quota_) / all[kKinds].count);
  }
  for (std::size_t i = 0; i < kKinds; ++i) rate_[i] = all[i].rate;
  foreign_rate_ = all[kKinds].rate;
  speed_ = std::max(kSlowest, 1 - kLossPerThread * std::max(threads - cores_, 0.0));
  is_known_ = true;
}

Time Processor::next(Time now) {
  if (!is_known_) share_out();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (server_[i].jobs() > 0) least = std::min(least, server_[i].least_left() / (rate_[i] * speed_));
  }
  return least < 1e15 ? now + static_cast<Time>(std::ceil(least - kSlack)) : kNever;
}

void Processor::advance(Time by) {
  if (by == 0) return;
  if (!is_known_) share_out();
  const double time = static_cast<double>(by);
  for (std::size_t i = 0; i < kKinds; ++i) {
    const double each = rate_[i] * time;
    clock_[i] += each;
    used_[i] += each * static_cast<double>(server_[i].jobs());
    server_[i].serve(each * speed_);
  }
  used_foreign_ += foreign_rate_ * time * foreign_;
}

bool Processor::wake_finished() {
  for (SharedServer& server : server_) {
    Client* client = server.take_finished(2 * kSlack);
    if (client == nullptr) continue;
    is_known_ = false;
    client->wake();
    return true;
  }
  return false;
}

}  // namespace penstock::exam
