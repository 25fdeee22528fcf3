#include "lib/exec/engine.h"

#include <algorithm>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/resume_body.h"

namespace penstock::exec {
namespace {

constexpr std::chrono::nanoseconds kShortestPause = std::chrono::microseconds(50), kLongestPause = std::chrono::milliseconds(4);

constexpr std::size_t kReserve = 16 << 10;

std::int64_t first_depth(const Tunable& prefetch, bool one_at_a_time) { return one_at_a_time ? 1 : first_value(prefetch, 2); }

std::int64_t widest_outlet(const Tunable& prefetch, bool one_at_a_time) {
  return prefetch.is_automatic() && !one_at_a_time ? prefetch.high() : 0;
}

}  // namespace

Engine::Engine(std::shared_ptr<const Plan> plan, const EngineSettings& settings, std::unique_ptr<Launcher> launcher)
    : plan_(std::move(plan)),
      settings_(settings),
      launcher_(std::move(launcher)),
      started_ns_(machine().now()),
      memory_(settings.memory_bytes),
      passes_(plan_->repeats, settings.first_epoch, settings.epochs, settings.first_sequence),
      outlet_(first_depth(plan_->prefetch, launcher_->one_at_a_time()), widest_outlet(plan_->prefetch, launcher_->one_at_a_time()), machine()),
      reserve_(launcher_->is_pumped() ? nullptr : std::make_unique_for_overwrite<std::byte[]>(kReserve)),
      surroundings_{.cpu_budget = settings.cpu_budget, .open_io_limit = settings.open_io} {
  passes_.number_from(settings_.pass);
  outlet_.set_trace(trace());
  for (std::size_t i = 0; i < plan_->stages.size(); ++i) {
    stages_.push_back(std::make_unique<Stage>(plan_->stages[i], i, plan_->repeats.size(), *this, passes_));
  }
  if (settings.resume_after != nullptr) resume_by_position(*settings.resume_after);
}

// The last to let go may be a knob's mover, whose call is still to begin: it asks the engine, and where a destructor has begun even which
// class that is changes. So the engine is shut down before that.
std::shared_ptr<Engine> Engine::make(std::shared_ptr<const Plan> plan, const EngineSettings& settings, std::unique_ptr<Launcher> launcher) {
  struct ShutDownFirst {
    void operator()(Engine* engine) const {
      const std::unique_ptr<Engine> owner(engine);
      owner->shut_down();
    }
  };
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), settings, std::move(launcher)), ShutDownFirst());
  engine->open();
  return engine;
}

// From the consumer to the source: a stage that is told that it may want nothing (take(0)) says so before anything is read.
void Engine::open() {
  if (settings_.gate != nullptr) at_gate_ = std::make_shared<SlotGate::Run>(weak_from_this(), settings_.slots);
  std::vector<Stage*> stages;
  for (auto& stage : stages_) stages.push_back(stage.get());
  launcher_->connect(stages, outlet_);
  for (std::size_t i = stages.size(); i-- > 0;) stages[i]->body().begin();
  for (std::size_t i = 1; i < stages.size(); ++i) stages[i]->connect(*stages[i - 1]);
  for (std::size_t i = stages.size(); i-- > 0;) stages[i]->wake();
  launcher_->give_credits(*stages.back(), outlet_.top_up());
}

void Engine::resume_by_position(const Stamp& last) {
  for (auto& stage : stages_) stage->body().resume_at(last);
  if (plan_->resume_stage < stages_.size()) stages_[plan_->resume_stage]->resume_after(last);
}

bool Engine::has_missed_resumption() const noexcept {
  return plan_->resume_stage < stages_.size() && stages_[plan_->resume_stage]->body().has_missed_resumption();
}

Engine::~Engine() {
  launcher_.reset();  // its nodes refer to the stages
}

void Engine::request_stop() {
  stopped_.store(true);
  stop_.request_stop();
  passes_.stop();
  for (auto& stage : stages_) stage->stop();
}

void Engine::shut_down() {
  reserve_.reset();
  request_stop();
  let_go_of_results();
  for (auto pause = kShortestPause; !launcher_->wait_for(pause); pause = std::min(2 * pause, kLongestPause)) let_go_of_results();
  for (auto& stage : stages_) stage->stop();  // calls that a last token has still handed over
  outlet_.clear();
  for (auto& stage : stages_) stage->clear();
}

// Nobody will take them, and calls under way may wait for what they hold: buffers of a pool of the user's.
void Engine::let_go_of_results() {
  try {
    outlet_.clear();
    for (auto& stage : stages_) stage->let_go_of_slots();
  } catch (const std::bad_alloc&) {  // again when the calls have ended
  }
}

// ------------------------------------------------------------------------------------------------ the consumer's side

Engine::Taken Engine::next(Slot& slot, std::int64_t deadline) {
  refuse_own_body("next()");
  while (!take(slot)) {
    check_given_up();
    if (!wait(deadline)) return Taken::timeout;
  }
  return Taken::slot;
}

// By any thread, which may be inside anything: so without waiting, and the rest is done by whoever shuts down.
void Engine::give_up(std::exception_ptr cause) noexcept {
  outlet_.fail(std::move(cause));
  stopped_.store(true);
  stop_.request_stop();
  passes_.stop();
  launcher_->stop_waiting();
}

void Engine::check_given_up() {
  const auto cause = outlet_.failure();
  if (!cause) return;
  reserve_.reset();  // a text takes some, too
  if (code_of(cause) == ErrorCode::cancelled) throw Error(ErrorCode::cancelled, "the run has been given up: " + message_of(cause));
  throw Error(code_of(cause), "the run has ended before its time: " + message_of(cause) +
                                  ". What it was about is lost: make its shuffle buffers and batches smaller, or go on from a checkpoint");
}

void Engine::refuse_own_body(const char* caller) const {
  if (!inside_own_body()) return;
  throw Error(ErrorCode::failed_precondition, std::string(caller) +
                                                  " was called from inside a function of the very run it asks: it would wait for "
                                                  "itself. Iterate another dataset there, or move the loop out of the function");
}

bool Engine::take(Slot& slot) {
  std::int64_t credits = 0;
  const bool taken = outlet_.pop(slot, credits);
  if (taken) {
    // Off the books before the outlet counts as empty: then the last stage may start an element without room.
    memory_.release(slot.bytes());
    const bool is_mark = slot.kind() == Slot::Kind::pass_end;
    outlet_.count_taken(is_mark);
    sequence_ = slot.stamp.sequence + (is_mark ? 1 : 0);
    if (is_mark) passes_.forget_until(slot.stamp.sequence);
  }
  if (credits > 0) launcher_->give_credits(*stages_.back(), credits);  // also where nothing was there: room may have grown
  if (!taken) return false;
  if (!outlet_.has_slots()) stages_.back()->tell_that_all_is_empty();
  offer_memory();
  return true;
}

bool Engine::wait(std::int64_t deadline) {
  if (launcher_->is_pumped()) return launcher_->pump(deadline);
  if (!BodyScope::inside_any()) return outlet_.wait(deadline, look_pause_, [this] { return look_around(); });
  // On a thread that the engine itself may need: work instead of waiting.
  if (!help_somebody()) outlet_.wait_briefly();
  look_after_calls();
  return machine().now() < deadline;
}

// By the waiting consumer, at first as often as looking was worth it last time.
std::chrono::nanoseconds Engine::look_around() {
  const bool found = look_after_calls();
  const bool is_busy = std::ranges::any_of(stages_, [](const auto& stage) { return stage->signs().open_calls.load(std::memory_order_relaxed) > 0; });
  look_pause_ = found ? std::max(look_pause_ / 2, kShortestPause) : std::min(look_pause_ * 2, is_busy ? kLongestPause / 2 : kLongestPause);
  return look_pause_;
}

bool Engine::look_after_calls() {
  bool found = false;
  for (auto& stage : stages_) found = stage->look_after_calls() || found;
  return found;
}

bool Engine::help_somebody() {
  for (std::size_t i = stages_.size(); i-- > 0;) {
    if (stages_[i]->help()) return true;
  }
  return false;
}

// Only those who wait for a CPU slot: a call of another may block for long.
bool Engine::relieve_one() {
  for (std::size_t i = stages_.size(); i-- > 0;) {
    if (stages_[i]->can_be_relieved() && stages_[i]->help()) return true;
  }
  return false;
}

bool Engine::is_starved() const {
  if (!at_gate_ || at_gate_->in_use() > 0) return false;
  return std::ranges::any_of(stages_, [](const auto& stage) { return stage->signs().waits_for_cpu_slot.load(); });
}

// Not a thread for nothing: who waits for a slot may have no work left.
void Engine::relieve(bool once_more) {
  if (std::ranges::none_of(stages_, [](const auto& stage) { return stage->can_be_relieved(); })) return;
  const bool has_been = lent_.fetch_add(1) > 0;
  const bool has_thread = (once_more || !has_been) && launcher_->try_on_pool([this] {
    while (relieve_one() && is_starved()) {
    }
    --lent_;
  });
  if (!has_thread) --lent_;
}

void Engine::begin_epoch(std::uint32_t epoch, std::uint32_t epochs) {
  passes_.begin_epoch(epoch, epochs);
  stages_.front()->wake();
}

void Engine::abandon_epoch() {
  refuse_own_body("epoch()");  // while the epoch is still whole
  const std::size_t depth = passes_.depth();
  const std::uint64_t last = passes_.halt();
  for (std::size_t i = stages_.size(); i-- > 1;) stages_[i]->cancel_pass(depth, sequence_);
  stages_.front()->wake();
  while (sequence_ <= last) {
    Slot unwanted;  // destroyed outside the outlet's lock
    next(unwanted);
  }
}

// ------------------------------------------------------------------------------------------------ what stages ask

// What feeds a stage that waits goes first, for its calls are to be under way while the others compute; then what is further down: elements
// leave there, memory becomes free, and the caches still hold what has just been made.
std::size_t Engine::cpu_rank(std::size_t stage) const {
  const auto from = stages_.begin() + static_cast<std::ptrdiff_t>(stage);  // it may wait itself, after a short start
  const bool feeds = std::any_of(from, stages_.end(), [](const auto& other) { return waits(other->traits(), other->signs()); });
  return feeds ? stages_.size() + stage : stage;
}

bool Engine::acquire_cpu_slot(std::size_t stage) { return !at_gate_ || settings_.gate->acquire(at_gate_, stage, cpu_rank(stage)); }

bool Engine::cpu_slot_is_wanted(std::size_t stage) { return at_gate_ && settings_.gate->is_wanted_before(at_gate_, cpu_rank(stage)); }

bool Engine::has_free_cpu_slot() const { return !at_gate_ || settings_.gate->has_free_slot(*at_gate_); }

// In this order: a token that comes of the slot is to find this thread, which has nothing else to do.
void Engine::release_cpu_slot() {
  launcher_->token_ends();
  if (at_gate_) settings_.gate->release(at_gate_);
}

void Engine::give_up_cpu_slot() {
  launcher_->token_goes_without_slot();
  if (at_gate_) settings_.gate->release(at_gate_);
}

void Engine::end_without_cpu_slot() { launcher_->token_ends_without_slot(); }

void Engine::offer_memory() {
  if (!memory_.take_wake_up()) return;
  for (std::size_t i = stages_.size(); i-- > 0;) stages_[i]->memory_is_free();
}

std::int64_t Engine::memory_claimed_behind(std::size_t stage) const {
  std::int64_t sum = 0;
  for (std::size_t i = stage + 1; i < stages_.size(); ++i) sum += stages_[i]->signs().claim.load();
  return sum;
}

// As far as the next stage that reserves: those between only hand on what is charged already.
bool Engine::next_is_empty(std::size_t stage) const {
  for (std::size_t i = stage + 1; i < stages_.size(); ++i) {
    if (!stages_[i]->signs().is_empty()) return false;
    if (!stages_[i]->traits().plan.passes_memory_on) return true;
  }
  return !outlet_.has_slots();
}

void Engine::cut_pass(std::size_t stage, const PassCut& cut) {
  passes_.end(cut.depth, cut.sequence);
  let_go_of_pass(stage, cut);
}

std::optional<Slot> Engine::close_pass(std::size_t stage, const PassCut& cut) {
  std::optional<Slot> mark = passes_.close_early(cut.depth, cut.sequence);
  let_go_of_pass(stage, cut);
  return mark;
}

void Engine::let_go_of_pass(std::size_t stage, const PassCut& cut) {
  for (std::size_t i = stage; i-- > 1;) stages_[i]->cancel_pass(cut.depth, cut.sequence);
  stages_.front()->recall();
  stages_.front()->wake();
}

std::int64_t Engine::dropped() const noexcept {
  std::int64_t sum = 0;
  for (const auto& stage : stages_) sum += stage->signs().dropped.load(std::memory_order_relaxed);
  return sum;
}

// ------------------------------------------------------------------------------------------------ snapshot

Snapshot Engine::snapshot() const {
  Snapshot snapshot;
  this->snapshot(snapshot);
  return snapshot;
}

void Engine::snapshot(Snapshot& snapshot) const {
  snapshot.time_ns = machine().now() - started_ns_;
  snapshot.stages.resize(stages_.size());
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->snapshot(snapshot.stages[i]);
  outlet_.snapshot(snapshot.consumer);
  snapshot.memory_limit = memory_.limit();
  snapshot.memory_used = memory_.used();
  snapshot.memory_peak = memory_.peak();
  snapshot.overshoot_bytes = memory_.overshot_bytes();
  if (at_gate_) snapshot.cpu_slots_in_use = at_gate_->in_use();
  MutexLock lock(surroundings_mutex_);
  snapshot.runs = surroundings_.runs;
  snapshot.cpu_budget = surroundings_.cpu_budget;
  snapshot.open_io_limit = surroundings_.open_io_limit;
  if (surroundings_.clocks_read_at < started_ns_) return;
  snapshot.process_cpu_ns = surroundings_.process_cpu_ns;
  snapshot.workers_cpu_ns = surroundings_.workers_cpu_ns;
  snapshot.consumer_cpu_ns = consumer_cpu_ns_;
  snapshot.clocks_ns = surroundings_.clocks_read_at - started_ns_;
}

void Engine::set_surroundings(const Surroundings& surroundings) {
  const std::int64_t consumer_cpu = outlet_.consumer_cpu_ns();
  MutexLock lock(surroundings_mutex_);
  if (surroundings.clocks_read_at != surroundings_.clocks_read_at) consumer_cpu_ns_ = consumer_cpu;
  surroundings_ = surroundings;
}

}  // namespace penstock::exec
