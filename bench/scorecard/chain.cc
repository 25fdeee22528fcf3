#include "bench/scorecard/chain.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "autotune/explain.h"
#include "bench/scorecard/plant.h"

namespace penstock::scorecard {
namespace {

StageSpec source() {
  StageSpec spec;
  spec.name = "source";
  spec.is_source = true;
  spec.serial = true;
  spec.cpu = Distribution::constant(100);
  spec.result_bytes = 64;
  return spec;
}

// As the engine begins: as many calls as there are slots, and a few where they wait.
std::int64_t first_calls(const StageSpec& spec, std::int64_t slots, std::int64_t open_io) {
  if (spec.serial) return 1;
  return spec.form == StageSpec::Form::blocks ? std::min<std::int64_t>(4, open_io) : slots;
}

}  // namespace

Chain::Chain(Plant& plant, const ChainSpec& spec, std::uint64_t seed)
    : plant_(plant), open_io_(spec.open_io), consumer_(*this, spec.consumer) {
  memory_.limit = spec.memory;
  for (const DeviceSpec& device : spec.devices) {
    devices_.push_back(std::make_unique<Device>(device, plant.events(), plant.now()));
  }
  at_arena_.most = plant.arena().slots();
  make_stages(spec, seed);
  make_knobs();
}

void Chain::make_stages(const ChainSpec& spec, std::uint64_t seed) {
  if (spec.stages.size() > 60) throw std::invalid_argument("a chain has at most 60 stages");
  stages_.push_back(std::make_unique<Stage>(*this, 0, source(), 1, seed));
  for (const StageSpec& stage : spec.stages) {
    const int index = static_cast<int>(stages_.size());
    stages_.push_back(std::make_unique<Stage>(*this, index, stage, first_calls(stage, plant_.arena().slots(), open_io_),
                                              64 * seed + static_cast<std::uint64_t>(index)));
  }
  std::vector<std::vector<Stage*>> inputs(stages_.size());
  std::vector<Stage*> feeds(stages_.size(), nullptr);
  for (std::size_t i = 1; i < stages_.size(); ++i) {
    std::vector<int> from = spec.stages[i - 1].inputs;
    if (spec.stages[i - 1].is_source) continue;
    if (from.empty()) from = {static_cast<int>(i) - 1};
    for (const int position : from) {
      if (feeds.at(static_cast<std::size_t>(position)) != nullptr) throw std::invalid_argument("a stage feeds one other");
      inputs[i].push_back(stages_[static_cast<std::size_t>(position)].get());
      feeds[static_cast<std::size_t>(position)] = stages_[i].get();
    }
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->connect(feeds[i], inputs[i]);
}

void Chain::start() {
  for (std::size_t i = 0; i < stages_.size(); ++i) touch(static_cast<int>(i));
  stages_.back()->add_credits(outlet_.top_up_all());
  settle();
  consumer_.start();
}

// From the consumer backwards, so that slots go to the elements that are nearly done.
void Chain::step_all_touched() {
  while (touched_ != 0) {
    const int last = 63 - std::countl_zero(touched_);
    touched_ &= ~(std::uint64_t{1} << last);
    stages_[static_cast<std::size_t>(last)]->step();
  }
}

void Chain::settle() {
  do {
    step_all_touched();
    offer_memory();
    if (touched_ == 0) keep_promise();
  } while (touched_ != 0);
}

void Chain::offer_memory() {
  if (!memory_.take_wake_up()) return;
  for (std::size_t i = stages_.size(); i-- > 0;) stages_[i]->memory_is_free();
}

Time Chain::now() const noexcept { return plant_.now(); }

bool Chain::has_free_cpu_slot() const { return plant_.arena().has_free_slot(at_arena_); }

// What feeds a stage that waits goes first; then what is further down.
std::int64_t Chain::rank(int stage) const {
  const auto count = static_cast<std::int64_t>(stages_.size());
  for (const Stage* each = stages_[static_cast<std::size_t>(stage)].get(); each != nullptr; each = each->feeds()) {
    if (each->on_pool()) return count + stage;
  }
  return stage;
}

bool Chain::is_empty_behind(const Stage& stage) const {
  const Stage* from = &stage;
  for (const Stage* each = stage.feeds(); each != nullptr; from = each, each = each->feeds()) {
    if (!each->is_empty_of(*from)) return false;
    if (!each->passes_memory_on()) return true;
  }
  return outlet_.ready() == 0;
}

bool Chain::more_comes_soon() const { return 2 * memory_.used < memory_.limit && stages_.back()->brings_soon(); }

void Chain::deliver(const Lot& lot) {
  const std::int64_t worth_waiting = stages_.back()->worth_waiting();
  owes_wake_ = !outlet_.receive(lot, more_comes_soon(), worth_waiting, now());
  if (!owes_wake_) consumer_.arrived();
}

// Who has been told that more comes is woken when it does not.
void Chain::keep_promise() {
  if (!owes_wake_ || more_comes_soon()) return;
  owes_wake_ = false;
  consumer_.arrived();
}

std::int64_t Chain::take(std::int64_t most) {
  const Lot lot = outlet_.take(most, now());
  memory_.used -= lot.bytes;
  const std::int64_t room = outlet_.top_up();
  if (room > 0) stages_.back()->add_credits(room);
  // Then the last stage that reserves may start an element without room.
  if (outlet_.ready() == 0) {
    for (auto& stage : stages_) stage->memory_is_free();
  }
  return lot.count;
}

void Chain::count_call(int more, bool on_pool) {
  calls_ += more;
  most_calls_ = std::max(most_calls_, calls_);
  if (!on_pool) return;
  pool_calls_ += more;
  most_pool_calls_ = std::max(most_pool_calls_, pool_calls_);
}

// As promised in decisions.md 3: the limit, or what the ops must hold, and one element of each stage.
std::int64_t Chain::memory_bound() const {
  std::int64_t required = 0;
  std::int64_t elements = 0;
  for (const auto& stage : stages_) {
    required += stage->required_bytes();
    elements += stage->largest_element();
  }
  return std::max(memory_.limit, required) + elements;
}

const Snapshot& Chain::snapshot() {
  snapshot_.time_ns = now();
  snapshot_.stages.resize(stages_.size());
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->snapshot(snapshot_.stages[i]);
  consumer_.snapshot(snapshot_.consumer);
  if (plant_.reads_clocks_now()) {
    consumer_cpu_ = snapshot_.consumer.cpu_ns;
    consumer_delay_ = snapshot_.consumer.delay_ns;
  }
  snapshot_.consumer.cpu_ns = consumer_cpu_;
  snapshot_.consumer.delay_ns = consumer_delay_;
  snapshot_.consumer_cpu_ns = consumer_cpu_;
  snapshot_.consumer.ready = outlet_.ready();
  snapshot_.consumer.prefetch = outlet_.depth();
  snapshot_.consumer.full_ns = outlet_.full(now());
  snapshot_.memory_limit = memory_.limit;
  snapshot_.memory_used = memory_.used;
  snapshot_.memory_peak = memory_.peak;
  snapshot_.overshoot_bytes = memory_.overshoot;
  plant_.describe_process(snapshot_);
  snapshot_.cpu_slots_in_use = at_arena_.in_use;
  snapshot_.open_io_limit = open_io_;
  return snapshot_;
}

void Chain::look() {
  if (outlet_.nudge(now())) consumer_.arrived();
  if (policy_) policy_->tick(snapshot(), knobs_);
  if (history_) history_->look(snapshot());
  settle();
}

bool Chain::is_calm() const { return !policy_ || policy_->is_calm(snapshot_.time_ns); }

Explanation Chain::explain() {
  autotune::Facts facts{.window = history_->recent(snapshot()), .decisions = {}, .limits = {}, .knobs = knobs_};
  if (policy_) {
    facts.decisions.assign(policy_->log().last().begin(), policy_->log().last().end());
    facts.limits = policy_->limits();
  }
  return autotune::explain(std::move(facts));
}

void Chain::record() {
  samples_.push_back({now(), consumer_.taken(), std::exchange(most_calls_, calls_), std::exchange(most_pool_calls_, pool_calls_),
                      std::exchange(memory_.peak_lately, memory_.used), outlet_.depth(), plant_.cpu_of_workers(), changes_});
}

}  // namespace penstock::scorecard
