// Stage: how elements come in, and how the stages before are paid for them. As lib/exec/stage_input.cc.
#include <algorithm>

#include "bench/scorecard/chain.h"
#include "bench/scorecard/stage.h"

namespace penstock::scorecard {
namespace {

constexpr double kLargestGroup = 256;
constexpr double kWidest = 100;          // times the grain
constexpr double kSmallElement = 4096;   // bytes

}  // namespace

std::int64_t Stage::waiting() const {
  if (inputs_.empty()) return 0;
  std::int64_t least = inputs_.front().count;
  for (const Input& input : inputs_) least = std::min(least, input.count);
  return least;
}

std::int64_t Stage::all_waiting() const {
  std::int64_t most = 0;
  for (const Input& input : inputs_) most = std::max(most, input.count);
  return most;
}

bool Stage::is_empty_of(const Stage& from) const noexcept {
  const auto input = std::ranges::find(inputs_, &from, &Input::from);
  return in_window_ == 0 && input->count == 0;
}

std::int64_t Stage::group_size() const {
  const MemoryBudget& memory = chain_.memory();
  if (on_pool_ || slot_ns_average_ <= 0 || memory.used >= memory.limit) return 1;
  const double base = static_cast<double>(grain_ns_) / slot_ns_average_;
  const std::int64_t calls = chain_.has_free_cpu_slot() ? parallelism_ : 1;
  const double share = static_cast<double>((waiting() + calls - 1) / calls);
  double size = std::max(std::clamp(base, 1.0, kLargestGroup), std::min({share, kWidest * base, kLargestGroup}));
  const double budget = static_cast<double>(memory.limit) / 16;
  if (size * expected_bytes() > budget) size = std::max(1.0, budget / expected_bytes());
  return static_cast<std::int64_t>(size);
}

std::int64_t Stage::capacity() const {
  return on_pool_ ? buffer_ : std::max(buffer_, small_elements(2 * kWidest * static_cast<double>(grain_ns_)));
}

std::int64_t Stage::small_elements(double nanoseconds) const {
  const double bytes = std::max(bytes_average_, input_average_);
  if (slot_ns_average_ <= 0 || bytes >= kSmallElement) return 0;
  const double made = std::min(nanoseconds / slot_ns_average_, kLargestGroup) * static_cast<double>(parallelism_);
  const double affordable = static_cast<double>(chain_.memory().limit) / 64 / std::max(bytes, 1.0);
  return static_cast<std::int64_t>(std::min(made, affordable));
}

// In lumps, as the stage before may have to wake a thread for them.
void Stage::top_up(Input& input) {
  const std::int64_t most = capacity();
  const std::int64_t more = std::max<std::int64_t>(most - input.promised, 0);
  if (more == 0 || 2 * more < most) return;
  input.promised += more;
  input.from->add_credits(more);
}

bool Stage::admit() {
  if (is_source_) return produce();
  if (waits_for_memory_ && !ready_.empty()) return false;
  const std::int64_t room = std::max(window_, capacity()) - in_window_;
  const std::int64_t there = waiting();
  if (there == 0 || room <= 0) return false;
  Call& call = new_call(std::min({group_size(), room, there}));
  const std::int64_t count = call.input.count;
  call.input = take(inputs_.front(), count);
  for (std::size_t i = 1; i < inputs_.size(); ++i) call.input.bytes += take(inputs_[i], count).bytes;
  return true;
}

// As many as the next stage has room for.
bool Stage::produce() {
  const std::int64_t room = credits_ - unsent_;
  if (running_ > 0 || !ready_.empty() || room <= 0) return false;
  const std::int64_t count = std::min(group_size(), room);
  new_call(count).input.size = static_cast<double>(count);
  return true;
}

Call& Stage::new_call(std::int64_t inputs) {
  if (spare_.empty()) spare_.push_back(&pool_.emplace_back());
  Call& call = *spare_.back();
  spare_.pop_back();
  call = Call();
  call.stage = this;
  call.input.count = inputs;
  in_window_ += inputs;
  ready_count_ += inputs;
  ring_.push_back(&call);
  ready_.push_back(&call);
  return call;
}

// The oldest `count` elements that wait, which are there.
Lot Stage::take(Input& input, std::int64_t count) {
  Lot taken;
  input.count -= count;
  input.promised -= count;
  while (taken.count < count) {
    Lot& front = input.waiting.front();
    if (front.count <= count - taken.count) {
      taken = {taken.count + front.count, taken.size + front.size, taken.bytes + front.bytes};
      input.waiting.pop_front();
      continue;
    }
    const std::int64_t some = count - taken.count;
    const double share = static_cast<double>(some) / static_cast<double>(front.count);
    const Lot part = {some, front.size * share, static_cast<std::int64_t>(static_cast<double>(front.bytes) * share)};
    taken = {count, taken.size + part.size, taken.bytes + part.bytes};
    front = {front.count - part.count, front.size - part.size, front.bytes - part.bytes};
  }
  return taken;
}

}  // namespace penstock::scorecard
