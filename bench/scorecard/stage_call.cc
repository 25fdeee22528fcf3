// Stage: the calls, from the slot and the memory that they need to the results that they leave.
#include <algorithm>
#include <utility>

#include <penstock/service_times.h>

#include "bench/scorecard/chain.h"
#include "bench/scorecard/plant.h"
#include "bench/scorecard/stage.h"

namespace penstock::scorecard {
namespace {

constexpr double kCallCost = 1'500;          // ns of CPU, of each call
constexpr double kElementCost = 250;         // and of each element in it
constexpr Time kTokenTime = 50'000;          // after which a thread looks whether somebody else goes first
constexpr double kBetweenSamples = 4'000'000;
constexpr std::int64_t kFirstSamples = 8;

}  // namespace

void Stage::start_calls() {
  if (waits_for_memory_ && !ready_.empty() && may_force(*ready_.front())) waits_for_memory_ = false;
  while (!ready_.empty() && running_ < parallelism_ && !waits_for_slot_ && !waits_for_memory_) {
    if (!acquire()) {
      waits_for_slot_ = true;
      return;
    }
    const bool on_pool = on_pool_;
    if (!start_next(chain_.now(), on_pool)) release(on_pool);
  }
}

bool Stage::acquire() {
  SlotGate& gate = on_pool_ ? chain_.plant().pool() : chain_.plant().arena();
  return gate.acquire(on_pool_ ? chain_.at_pool() : chain_.at_arena(), *this, on_pool_ ? 0 : chain_.rank(index_));
}

void Stage::release(bool on_pool) {
  if (on_pool) return chain_.plant().pool().release(chain_.at_pool());
  chain_.plant().arena().release(chain_.at_arena());
}

// The oldest waiting group. False: no memory for it.
bool Stage::start_next(Time token_since, bool on_pool) {
  Call& call = *ready_.front();
  if (!reserve(call)) return false;
  draw(call);
  account();
  ready_.pop_front();
  ready_count_ -= call.input.count;
  call.state = Call::State::running;
  call.on_pool = on_pool;
  call.token_since = token_since;
  call.started = chain_.now();
  call.earlier = newest_;
  (newest_ == nullptr ? oldest_ : newest_->later) = &call;
  newest_ = &call;
  ++running_;
  if (!spec_.serial) chain_.count_call(1, on_pool);
  ++counters_.calls;
  call.sampled = sample_now();
  begin_next_phase(call);
  return true;
}

// As the engine draws them: one call in 4 ms, however many are under way.
bool Stage::sample_now() {
  const Time now = chain_.now();
  between_calls_ += 0.05 * (static_cast<double>(now - std::exchange(last_call_, now)) - between_calls_);
  return counters_.calls <= kFirstSamples || sampling_.uniform() * kBetweenSamples < between_calls_;
}

// ------------------------------------------------------------------------------------------------ memory

double Stage::expected_bytes() const {
  return chain_.memory().was_overshot ? static_cast<double>(largest_) : bytes_average_;
}

bool Stage::reserve(Call& call) {
  if (passes_memory_on()) return true;
  MemoryBudget& memory = chain_.memory();
  if (spec_.size_is_known) draw(call);
  const auto expected = [&] {
    return spec_.size_is_known ? call.output.bytes
                               : static_cast<std::int64_t>(expected_bytes() * static_cast<double>(call.input.count));
  };
  call.reserved = expected();
  if (memory.reserve(call.reserved, false, claimed_behind())) {
    withdraw_claim();
    return true;
  }
  if (2 * running_ < parallelism_) claim_ = call.reserved;
  waits_for_memory_ = true;
  if (!may_force(call)) return false;
  withdraw_claim();
  if (call.input.count > 1) keep_first(call);
  if (spec_.size_is_known) draw(call);
  call.reserved = expected();
  call.forced = memory.reserve(call.reserved, true);
  waits_for_memory_ = false;
  return true;
}

// A stage that was refused while most of its calls stood idle goes before those upstream, which would only bring it more to do.
std::int64_t Stage::claimed_behind() const {
  std::int64_t sum = 0;
  for (const Stage* each = feeds_; each != nullptr; each = each->feeds_) sum += each->claim_;
  return sum;
}

void Stage::withdraw_claim() {
  if (std::exchange(claim_, 0) > 0) chain_.memory().note_need(0);
}

// The rule of progress: the oldest element may begin without room where all is empty down to the next stage that reserves.
bool Stage::may_force(const Call& call) const { return &call == ring_.front() && chain_.is_empty_behind(*this); }

void Stage::keep_first(Call& call) {
  const Lot all = call.input;
  ring_.pop_front();
  ready_.pop_front();
  ready_count_ -= all.count;
  in_window_ -= all.count;
  if (spare_.empty()) spare_.push_back(&pool_.emplace_back());
  Call& rest = *spare_.back();
  spare_.pop_back();
  rest = Call();
  rest.stage = this;
  const double n = static_cast<double>(all.count);
  call.input = {1, all.size / n, all.bytes / all.count};
  call.is_drawn = false;
  rest.input = {all.count - 1, all.size - call.input.size, all.bytes - call.input.bytes};
  for (Call* each : {&rest, &call}) {
    ring_.push_front(each);
    ready_.push_front(each);
    ready_count_ += each->input.count;
    in_window_ += each->input.count;
  }
}

// ------------------------------------------------------------------------------------------------ what a call does

// How long it will take and what it will give: of the call, not of the world around it, so drawn once.
void Stage::draw(Call& call) {
  if (std::exchange(call.is_drawn, true)) return;
  const std::int64_t count = call.input.count;
  const double inputs = static_cast<double>(count);
  const double size = spec_.size.is_zero() ? call.input.size : spec_.size.draw_sum(count, random_);
  call.output.count = static_cast<std::int64_t>(spec_.fan_out.draw_sum(count, random_) + 0.5);
  call.output.size = size * static_cast<double>(call.output.count) / inputs;
  call.output.bytes = static_cast<std::int64_t>(spec_.result_bytes * call.output.size);
  const Time now = chain_.now();
  const double longer = spec_.time_follows_size ? size / inputs : 1;
  call.blocked_ns = longer * spec_.blocked_times.at(now, 1) * spec_.blocked.draw_sum(count, random_);
  call.cpu_ns = longer * spec_.cpu_times.at(now, 1) * spec_.cpu.draw_sum(count, random_) + kCallCost + kElementCost * inputs;
}

void Stage::begin_next_phase(Call& call) {
  if (call.blocked_ns > 0) {
    const double time = std::exchange(call.blocked_ns, 0);
    call.waited = true;
    call.phase = Call::Phase::blocked;
    if (spec_.device < 0) return chain_.plant().events().add(chain_.now() + static_cast<Time>(time), call);
    return chain_.device(spec_.device).request(time, time / spec_.blocked.mean, call);
  }
  if (spec_.own_threads > 0 && call.phase != Call::Phase::own_threads) {
    call.waited = true;
    call.phase = Call::Phase::own_threads;
    call.threads = spec_.own_threads;
    for (int i = 0; i < spec_.own_threads; ++i) chain_.plant().run_user_thread(spec_.own_cpu.draw(random_), call);
    return;
  }
  call.phase = Call::Phase::computing;
  call.clock = chain_.plant().processor().clock(Processor::workers);
  call.on_cpu_since = chain_.now();
  chain_.plant().processor().add(Processor::workers, call.cpu_ns, call);
}

void Stage::proceed(Call& call) {
  if (call.phase == Call::Phase::blocked && spec_.device >= 0) chain_.device(spec_.device).leave();
  if (call.phase == Call::Phase::own_threads) {
    chain_.plant().user_thread_ended();
    if (--call.threads > 0) return;
  }
  if (call.phase == Call::Phase::computing) return finish(call);
  begin_next_phase(call);
}

void Stage::finish(Call& call) {
  account();
  (call.earlier == nullptr ? oldest_ : call.earlier->later) = call.later;
  (call.later == nullptr ? newest_ : call.later->earlier) = call.earlier;
  --running_;
  if (!spec_.serial) chain_.count_call(-1, call.on_pool);
  call.state = Call::State::done;
  if (spec_.batch > 1) make_batches(call);
  learn(call, chain_.now());
  unsent_ += call.output.count;
  if (is_source_) {
    chain_.memory().charge(call.output.bytes);
  } else if (!passes_memory_on()) {
    chain_.memory().settle(call.reserved, call.input.bytes, call.output.bytes);
  }
  if (!spec_.ordered) done_.push_back(&call);
  chain_.touch(index_);
  go_on(call);
}

void Stage::make_batches(Call& call) {
  batching_ = {batching_.count + call.input.count, batching_.size + call.input.size, batching_.bytes + call.input.bytes};
  const std::int64_t batches = batching_.count / spec_.batch;
  const double share = static_cast<double>(batches * spec_.batch) / static_cast<double>(batching_.count);
  call.output = {batches, batching_.size * share, static_cast<std::int64_t>(static_cast<double>(batching_.bytes) * share)};
  batching_ = {batching_.count - batches * spec_.batch, batching_.size - call.output.size, batching_.bytes - call.output.bytes};
}

void Stage::learn(const Call& call, Time now) {
  const double count = static_cast<double>(call.input.count);
  const Time wall = now - call.started;
  const double each = static_cast<double>(wall) / count;
  counters_.completed += call.input.count;
  counters_.made += call.output.count;
  counters_.bytes_out += call.output.bytes;
  counters_.service_times[service_time_bucket(static_cast<Time>(each))] += call.input.count;
  largest_ = std::max(largest_, call.output.bytes / std::max<std::int64_t>(spec_.batch > 1 ? call.output.count : call.input.count, 1));
  const auto average = [](double& value, double sample) { value += (value > 0 ? 0.1 : 1.0) * (sample - value); };
  average(slot_ns_average_, each);
  average(bytes_average_, static_cast<double>(call.output.bytes) / count);
  average(input_average_, static_cast<double>(call.input.bytes) / count);
  if (!call.sampled) return;
  const double used = chain_.plant().processor().clock(Processor::workers) - call.clock;
  ++counters_.samples;
  counters_.sampled_elements += call.input.count;
  counters_.sampled_wall_ns += wall;
  counters_.sampled_cpu_ns += static_cast<Time>(used);
  const Time delay = std::max<Time>(now - call.on_cpu_since - static_cast<Time>(used), 0);
  counters_.sampled_delay_ns += delay;
  if (!counters_.form_is_known && call.waited) counters_.sampled_waiting_ns += std::max<Time>(wall - static_cast<Time>(used) - delay, 0);
}

// The thread takes the next group of the stage, or gives its slot back: what it has just made may be wanted by a stage that goes first. Memory
// that it has freed is offered to the others only then.
void Stage::go_on(const Call& call) {
  const bool on_pool = call.on_pool;
  const Time since = call.token_since;
  const bool was_stepping = std::exchange(is_stepping_, true);
  emit();
  while (admit()) {
  }
  for (Input& input : inputs_) top_up(input);
  chain_.step_all_touched();
  bool stays = on_pool == on_pool_ && running_ < parallelism_ && !ready_.empty();
  if (stays && !on_pool && chain_.now() - since >= kTokenTime) {
    stays = !chain_.plant().arena().is_wanted_before(chain_.at_arena(), chain_.rank(index_));
  }
  if (!stays || !start_next(since, on_pool)) release(on_pool);
  is_stepping_ = was_stepping;
  chain_.touch(index_);
}

}  // namespace penstock::scorecard
