// Stage: what belongs to none of input, tokens, running and output; see stage_*.cc.
#include "lib/exec/stage.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/exec/async_target.h"
#include "lib/exec/resume_body.h"

namespace penstock::exec {
namespace {

constexpr std::size_t kFetchedAhead = 8;  // groups

// As many calls as there are cores, and a few where they wait, which open_io may forbid.
std::int64_t first_parallelism(const StagePlan& plan, const StageHost& host) {
  if (plan.serial) return 1;
  if (plan.form == Form::computes) return first_value(plan.parallelism, host.cpu_slots());
  return first_value(plan.parallelism, std::min<std::int64_t>(4, host.open_io()));
}

}  // namespace

Stage::Stage(const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host, PassControl& passes)
    : plan_(plan),
      index_(index),
      host_(host),
      outside_(host),
      machine_(host.machine()),
      trace_(host.trace()),
      keeps_statistics_(host.keeps_statistics()),
      one_at_a_time_(host.launcher().one_at_a_time()),
      is_source_(index == 0),
      begins_with_few_(!plan.serial && !plan.passes_memory_on && plan.form != Form::completes_later),
      keeps_near_(plan.keeps_near()),
      keeps_passes_apart_(plan.keeps_passes_apart()),
      ledger_(plan.batch.size > 0 ? std::make_shared<SlotLedger>(plan.batch) : nullptr),
      passes_(passes),
      body_(plan.open(index, host, passes)),
      on_pool_(plan.form == Form::blocks),
      closed_(marks + 1, -1),
      departed_(marks + 1, -1),
      parallelism_(first_parallelism(plan, host)),
      window_(one_at_a_time_ ? 1 : 2 * parallelism_),
      buffer_(first_value(plan.buffer, one_at_a_time_ ? 1 : 2)),
      accounted_until_(machine_.now()),
      last_call_ns_(accounted_until_) {
  counters_.name = plan_.name;
  counters_.position = plan_.position;
  counters_.feeds = host_.is_last(index_) ? -1 : static_cast<int>(index_) + 1;
  counters_.places_end = plan_.places_end;
  counters_.parallel = !plan_.serial;
  counters_.ordered = plan_.order == Order::kept;
  counters_.completes_later = plan_.form == Form::completes_later;
  counters_.form_is_known = plan_.form_is_known;
}

Stage::~Stage() = default;

void Stage::resume_after(const Stamp& last) { body_ = std::make_unique<ResumeBody>(std::move(body_), last); }

void Stage::wake() {
  MutexLock lock(mutex_);
  pump();
}

void Stage::slot_is_free() {
  MutexLock lock(mutex_);
  waits_for_slot_ = false;
  pump();
}

void Stage::memory_is_free() {
  MutexLock lock(mutex_);
  if (!waits_for_memory_) return;
  waits_for_memory_ = false;
  pump();
}

// The engine has set its stop flag, so nothing new starts. Completions that are still out are cut off.
void Stage::stop() {
  std::vector<std::shared_ptr<AsyncTarget>> targets;
  {
    MutexLock lock(mutex_);
    for (auto& group : ring_) {
      if (group->target) targets.push_back(group->target);
      want_back(*group);
    }
  }
  for (auto& target : targets) target->detach();
  MutexLock lock(mutex_);
  while (completing_ != 0) completed_.wait(mutex_);
}

// Destroyed on this thread, without the lock: users' code. No books are kept any more.
void Stage::let_go_of_slots() {
  Queue<Slots> waiting;
  std::vector<Slots> gone;
  MutexLock lock(mutex_);
  gone.reserve(2 * ring_.size());  // what finds no room later would be destroyed with the lock held
  waiting.swap(waiting_);
  waiting_taken_ = 0;
  waiting_count_ = 0;
  for (auto& group : ring_) {
    if (group->state == Group::State::running) {
      gone.push_back(answers_of(*group));
    } else {
      gone.push_back(std::exchange(group->slots, {}));
      gone.push_back(std::exchange(group->folded, {}));
    }
  }
}

// Of a call that goes on: what it has done.
Slots Stage::answers_of(Group& group) {
  Slots answers;
  if (group.call == nullptr) return answers;
  MutexLock lock(group.call->mutex);
  group.call->take(body_->results_of(group), answers);
  return answers;
}

// Elements and the op's state are users' code: destroyed on this thread, without the lock.
void Stage::clear() {
  Queue<Slots> waiting;
  Queue<std::unique_ptr<Group>> ring;
  Slots unwanted;
  std::unique_ptr<Body> body;
  {
    MutexLock lock(mutex_);
    waiting.swap(waiting_);
    ring.swap(ring_);
    unwanted.swap(unwanted_);
    body.swap(body_);
    ready_.clear();
    folded_.clear();
    has_folded_ = false;
    waiting_taken_ = 0;
    waiting_count_ = in_window_ = unsent_ = 0;
  }
  if (ledger_) ledger_->clear();
}

void Stage::pump() noexcept {
  or_give_up([&]() REQUIRES(mutex_) {
    while (!host_.stopped()) {
      Actions actions = next_actions();
      if (actions.nothing()) return;
      const bool emits = actions.packet != nullptr;
      {
        const MutexUnlock unlock(mutex_);
        perform(std::move(actions));
      }
      if (emits) emitting_ = false;
    }
  });
}

// Output first: groups that leave, even those without any result, make room in the window.
Stage::Actions Stage::next_actions() {
  Actions actions;
  for (bool admitted = true; admitted && !actions.packet;) {
    if (!emitting_) actions.packet = next_packet();
    admitted = false;
    while (admit_group()) admitted = true;
  }
  actions.credits = top_up();
  const bool waited = waits_for_memory_;
  actions.launches = claim_tokens();
  actions.wake_consumer = !waited && waits_for_memory_;
  // More may have been promised to the consumer than there is a CPU slot for.
  if (owes_wake_ && waits_for_slot_ && !actions.packet && !emitting_) actions.packet = next_packet();
  if (actions.packet) emitting_ = true;
  actions.unwanted.swap(unwanted_);
  actions.on_pool = on_pool_;
  actions.tell_upstream = became_empty();
  return actions;
}

// True once, if the nearest stage before that reserves waits for it.
bool Stage::became_empty() {
  const std::int64_t now = waiting_count_ + in_window_ + (emitting_ ? 1 : 0);
  const std::int64_t before = occupied_.exchange(now);
  return now == 0 && before != 0 && upstream_ != nullptr && upstream_->nearest_that_reserves()->waits_for_memory_.load();
}

Stage* Stage::nearest_that_reserves() noexcept {
  Stage* stage = this;
  while (stage->plan_.passes_memory_on && stage->upstream_ != nullptr) stage = stage->upstream_;
  return stage;
}

// Upstream first, so that the next stage's task, spawned last, is the one this thread runs next: its input is in the cache.
void Stage::perform(Actions actions) {
  for (; actions.launches > 0; --actions.launches) outside().launcher().launch(*this, actions.on_pool);
  if (actions.credits > 0) outside().launcher().give_credits(*upstream_, actions.credits);
  if (actions.packet) outside().launcher().send(*this, std::move(actions.packet));
  if (actions.tell_upstream) upstream_->nearest_that_reserves()->memory_is_free();
  if (actions.wake_consumer) outside().wake_consumer();
  actions.unwanted.clear();
  if (ledger_ && ledger_->has_garbage()) ledger_->drop_garbage();
  outside().offer_memory();
}

void Stage::add_credits(std::int64_t count) {
  MutexLock lock(mutex_);
  credits_ += count;
  pump();
}

// ------------------------------------------------------------------------------------------------ knobs

void Stage::set_parallelism(std::int64_t value) {
  MutexLock lock(mutex_);
  parallelism_ = std::max<std::int64_t>(value, 1);
  window_ = std::max(window_, parallelism_);
  pump();
}

void Stage::set_window(std::int64_t value) {
  MutexLock lock(mutex_);
  window_ = std::max<std::int64_t>(value, 1);
  pump();
}

void Stage::set_buffer(std::int64_t value) {
  MutexLock lock(mutex_);
  buffer_ = std::max<std::int64_t>(value, 1);
  pump();
}

void Stage::set_grain(std::int64_t nanoseconds) {
  MutexLock lock(mutex_);
  grain_ns_ = std::max<std::int64_t>(nanoseconds, 0);
}

// Calls that are under way on the cores go on there, but without a CPU slot: they wait, and what waits for a slot may be what they wait for.
void Stage::set_on_pool(bool on_pool) {
  std::int64_t slots = 0;
  {
    MutexLock lock(mutex_);
    on_pool_ = on_pool;
    if (on_pool) {
      waits_for_slot_ = false;
      std::swap(slots, cpu_slots_);
    }
    pump();
  }
  for (; slots > 0; --slots) outside().give_up_cpu_slot();
}

// ------------------------------------------------------------------------------------------------ snapshot

// Integrates what holds between two events; called before each of them.
void Stage::account(std::int64_t now) {
  const std::int64_t time = now - accounted_until_;
  accounted_until_ = now;
  if (!keeps_statistics_) return;
  counters_.slot_ns += running_ * time;
  if (running_ < parallelism_ && ready_.empty() && waiting_count_ == 0) counters_.starved_ns += time;
  if (unsent_ > 0 && credits_ == 0) counters_.blocked_ns += time;
}

void Stage::snapshot(StageSnapshot& out) const {
  MutexLock lock(mutex_);
  const std::int64_t now = machine_.now();
  out = counters_;
  out.dropped = dropped();
  describe_knobs(out);
  out.running = running_;
  out.waiting_input = waiting_count_;
  out.in_window = in_window_;
  out.credits = credits_;
  out.made = made_;
  out.waits_for_memory = waits_for_memory_;
  out.waits_for_cpu_slot = waits_for_slot_;
  out.slot_ns += running_ * (now - accounted_until_);
  out.bytes_held = held_bytes_;
  out.bytes_required = required_bytes(std::min(plan_.elements_held, counters_.completed));
  out.bytes_required_in_all = required_bytes(plan_.elements_held);
  out.bytes_expected = static_cast<std::int64_t>(expected_bytes_each());
  describe_ring(now, out);
}

// Of so many elements that it holds: a value needs no slot there, but what the op has in place of it.
std::int64_t Stage::required_bytes(std::int64_t elements) const {
  if (elements == std::numeric_limits<std::int64_t>::max()) return 0;  // all that come: nobody knows
  const double place = static_cast<double>(plan_.bytes_of_place) - static_cast<double>(sizeof(Slot));
  return static_cast<std::int64_t>(static_cast<double>(elements) * std::max(input_average_ + place, 0.0));
}

void Stage::knobs(StageSnapshot& out) const {
  MutexLock lock(mutex_);
  describe_knobs(out);
}

void Stage::describe_knobs(StageSnapshot& out) const {
  out.parallelism = parallelism_;
  out.window = window_;
  out.buffer = buffer_;
  out.grain_ns = grain_ns_;
  out.on_pool = on_pool_;
}

// Once the run has been stopped nobody waits for a Completion that is still out.
void Stage::describe_ring(std::int64_t now, StageSnapshot& out) const {
  const bool stopped = host_.stopped();
  const Group* oldest = nullptr;
  begins_.clear();
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    // Groups lie anywhere, and other cores have just written to them.
    if (i + kFetchedAhead < ring_.size()) __builtin_prefetch(ring_[i + kFetchedAhead].get());
    const auto& group = ring_[i];
    out.bytes_held += group->folded_bytes;
    if (group->state == Group::State::done) continue;
    out.bytes_held += group->input_bytes;
    if (group->state == Group::State::waiting && group->folded_bytes == 0) out.ready += group->admitted;
    const bool is_cut_off = stopped && group->target != nullptr && !group->target->is_starting();
    if (group->state == Group::State::waiting || is_cut_off) continue;
    begins_.push_back(group->started_ns);
    if (oldest == nullptr || group->started_ns < oldest->started_ns) oldest = group.get();
  }
  if (oldest == nullptr) return;
  out.oldest_call_ns = now - oldest->started_ns;
  out.oldest_call_ordinal = oldest->source_ordinal;
  const auto middle = begins_.begin() + static_cast<std::ptrdiff_t>(begins_.size() / 2);
  std::nth_element(begins_.begin(), middle, begins_.end());
  out.median_call_ns = now - *middle;
}

}  // namespace penstock::exec
