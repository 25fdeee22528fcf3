#include "bench/scorecard/stage.h"

#include <algorithm>
#include <utility>

#include "bench/scorecard/chain.h"

namespace penstock::scorecard {
namespace {

constexpr double kCheapCall = 1'000'000;      // ns
constexpr double kWakeHorizon = 16'000'000;   // ns
constexpr double kSmallElement = 4096;        // bytes

}  // namespace

void Call::wake() { stage->proceed(*this); }

Stage::Stage(Chain& chain, int index, const StageSpec& spec, std::int64_t calls, std::uint64_t seed)
    : chain_(chain),
      index_(index),
      spec_(spec),
      is_source_(spec.is_source),
      random_(seed),
      sampling_(~seed),
      parallelism_(calls),
      window_(2 * calls),
      on_pool_(spec.form == StageSpec::Form::blocks) {
  counters_.name = spec.name;
  counters_.position = index;
  counters_.parallel = !spec.serial;
  counters_.ordered = spec.ordered;
  counters_.form_is_known = spec.form != StageSpec::Form::unknown;
}

void Stage::connect(Stage* feeds, std::vector<Stage*> inputs) {
  feeds_ = feeds;
  for (Stage* from : inputs) inputs_.push_back({.from = from});
}

// All that has become possible. What it does may lead back here: then it looks once more.
void Stage::step() {
  steps_again_ = true;
  if (std::exchange(is_stepping_, true)) return;
  while (std::exchange(steps_again_, false)) {
    account();
    emit();
    while (admit()) {
    }
    for (Input& input : inputs_) top_up(input);
    start_calls();
    tell_what_is_under_way();
  }
  tell_upstream();
  is_stepping_ = false;
}

void Stage::receive(const Stage& from, const Lot& lot) {
  account();
  counters_.elements_in += lot.count;
  for (Input& input : inputs_) {
    if (input.from != &from) continue;
    input.waiting.push_back(lot);
    input.count += lot.count;
  }
  chain_.touch(index_);
}

void Stage::add_credits(std::int64_t count) {
  account();
  credits_ += count;
  chain_.touch(index_);
}

void Stage::slot_is_free() {
  waits_for_slot_ = false;
  step();
}

// Whoever waits for memory may start an element without room where all is empty up to the next stage that reserves.
void Stage::tell_upstream() {
  for (const Input& input : inputs_) {
    if (!is_empty_of(*input.from)) continue;
    Stage* before = input.from;
    while (before->passes_memory_on() && !before->inputs_.empty()) before = before->inputs_.front().from;
    before->memory_is_free();
  }
}

void Stage::memory_is_free() {
  if (!waits_for_memory_) return;
  waits_for_memory_ = false;
  chain_.touch(index_);
}

// ------------------------------------------------------------------------------------------------ output

void Stage::emit() {
  if (!spec_.ordered) {
    while (credits_ > 0 && !done_.empty() && emit_from(*done_.front())) done_.pop_front();
  }
  while (!ring_.empty()) {
    Call& call = *ring_.front();
    if (call.state == Call::State::done && spec_.ordered && (credits_ > 0 || call.output.count == 0)) emit_from(call);
    if (call.state != Call::State::gone) break;
    spare_.push_back(&call);
    ring_.pop_front();
  }
}

// True: all of it has left.
bool Stage::emit_from(Call& call) {
  Lot lot = call.output;
  if (credits_ < lot.count) {
    const double share = static_cast<double>(credits_) / static_cast<double>(lot.count);
    lot = {credits_, lot.size * share, static_cast<std::int64_t>(static_cast<double>(lot.bytes) * share)};
  }
  call.output.count -= lot.count;
  call.output.size -= lot.size;
  call.output.bytes -= lot.bytes;
  credits_ -= lot.count;
  unsent_ -= lot.count;
  counters_.elements_out += lot.count;
  if (lot.count > 0) send(lot);
  if (call.output.count > 0) return false;
  call.state = Call::State::gone;
  in_window_ -= call.input.count;
  return true;
}

void Stage::send(const Lot& lot) {
  if (feeds_ != nullptr) return feeds_->receive(*this, lot);
  chain_.deliver(lot);
}

void Stage::tell_what_is_under_way() {
  cheap_ = slot_ns_average_ > 0 && slot_ns_average_ < kCheapCall;
  busy_ = running_ > 0 || (!ready_.empty() && !waits_for_memory_ && !waits_for_slot_);
}

// Whether the next result is under way, here or in a stage before, with nothing but cheap calls between.
bool Stage::brings_soon() const {
  const Stage* stage = this;
  if (credits_ <= 0) return false;
  while (stage->cheap_ && !stage->busy_ && !stage->inputs_.empty()) stage = stage->inputs_.front().from;
  return stage->cheap_ && stage->busy_;
}

std::int64_t Stage::worth_waiting() const {
  const double inputs = static_cast<double>(std::max<std::int64_t>(counters_.completed, 1));
  const double results = static_cast<double>(counters_.elements_out + unsent_) / inputs;
  const bool small = bytes_average_ < kSmallElement * results;
  const std::int64_t soon = small && slot_ns_average_ < kCheapCall ? small_elements(kWakeHorizon) : 0;
  return static_cast<std::int64_t>(static_cast<double>(std::max(capacity() / 2, soon)) * results);
}

// ------------------------------------------------------------------------------------------------ knobs

void Stage::set_parallelism(std::int64_t value) {
  account();
  parallelism_ = std::max<std::int64_t>(value, 1);
  window_ = std::max(window_, parallelism_);
  chain_.touch(index_);
}

void Stage::set_window(std::int64_t value) {
  window_ = std::max<std::int64_t>(value, 1);
  chain_.touch(index_);
}

void Stage::set_buffer(std::int64_t value) {
  buffer_ = std::max<std::int64_t>(value, 1);
  chain_.touch(index_);
}

void Stage::set_on_pool(bool on_pool) {
  on_pool_ = on_pool;
  chain_.touch(index_);
}

// ------------------------------------------------------------------------------------------------ snapshot

void Stage::account() {
  const Time now = chain_.now();
  const Time time = now - std::exchange(accounted_until_, now);
  if (time == 0) return;
  counters_.slot_ns += running_ * time;
  if (running_ < parallelism_ && ready_.empty() && waiting() == 0) counters_.starved_ns += time;
  if (unsent_ > 0 && credits_ == 0) counters_.blocked_ns += time;
}

std::int64_t Stage::required_bytes() const noexcept {
  const std::int64_t held = std::min(spec_.batch, counters_.completed);
  return static_cast<std::int64_t>(static_cast<double>(held) * input_average_);
}

void Stage::snapshot(StageSnapshot& out) const {
  const Time now = chain_.now();
  const Time time = now - accounted_until_;
  out = counters_;
  out.feeds = feeds_ == nullptr ? -1 : feeds_->index_;
  out.parallelism = parallelism_;
  out.window = window_;
  out.buffer = buffer_;
  out.grain_ns = grain_ns_;
  out.on_pool = on_pool_;
  out.running = running_;
  out.ready = ready_count_;
  out.waiting_input = all_waiting();
  out.in_window = in_window_;
  out.credits = credits_;
  out.waits_for_memory = waits_for_memory_;
  out.waits_for_cpu_slot = waits_for_slot_ && !on_pool_;
  out.slot_ns += running_ * time;
  if (running_ < parallelism_ && ready_.empty() && waiting() == 0) out.starved_ns += time;
  if (unsent_ > 0 && credits_ == 0) out.blocked_ns += time;
  out.bytes_held = batching_.bytes;
  out.bytes_required = required_bytes();
  if (oldest_ == nullptr) return;
  out.oldest_call_ns = now - oldest_->started;
  out.oldest_call_ordinal = 0;
  const Call* median = oldest_;
  for (std::int64_t i = 0; i < running_ / 2; ++i) median = median->later;
  out.median_call_ns = now - median->started;
}

}  // namespace penstock::scorecard
