// Stage: running a group, all of it without the lock but for the books.
#include <algorithm>
#include <exception>
#include <utility>

#include <penstock/service_times.h>

#include "lib/base/type_name.h"
#include "lib/core/heap_top.h"
#include "lib/exec/async_target.h"
#include "lib/exec/seal.h"
#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {

constexpr double kBetweenSamples = 4'000'000;  // ns, on average: to read the thread's clocks before and after a call costs 4 to 6 us
// Of a result that was much larger than others, with each call: after a hundred calls a twenty-fifth is left. So one outlier slows the calls that
// follow, and not the run; outliers that come again and again are reserved for.
constexpr double kForgets = 1.0 / 32;
constexpr std::int64_t kFirstSamples = 8;            // calls that are all sampled: where a stage belongs is to be known soon

thread_local const BodyScope* innermost = nullptr;

// What one call may ask.
class CallServices final : public detail::ContextServices {
 public:
  CallServices(StageHost& host, Stage& stage, Group& group) : host_(host), stage_(stage), group_(group) {}

  std::string origin(std::int64_t ordinal) const override { return host_.origin(ordinal); }
  bool is_unwanted() const noexcept override { return BodyScope::is_unwanted(); }
  void count_dropped(std::int64_t errors) noexcept override { stage_.count_dropped(errors); }
  std::int64_t memory_budget() const noexcept override { return host_.memory().limit(); }

  // What an earlier, broken-off attempt asked for is part of this one's reservation. A group of several cannot be broken off: some of
  // its elements are answered already.
  bool try_reserve(std::int64_t more, bool may_refuse) override {
    asked_ += more;
    if (asked_ <= group_.needs) return true;
    if (!may_refuse || group_.slots.size() != 1) {
      stage_.count_more(group_, more);
      return true;
    }
    if (!host_.memory().reserve(more, group_.forced)) {
      group_.needs = asked_;
      return false;
    }
    group_.reserved += more;
    return true;
  }

 private:
  StageHost& host_;
  Stage& stage_;
  Group& group_;
  std::int64_t asked_ = 0;
};

// What start() may ask: also after it has given its Completion away, when the group may be gone.
class StartServices final : public detail::ContextServices {
 public:
  StartServices(StageHost& host, AsyncTarget& target) : host_(host), target_(target) {}

  std::string origin(std::int64_t ordinal) const override { return host_.origin(ordinal); }
  bool try_reserve(std::int64_t bytes, bool) override {
    target_.count_more(bytes);
    return true;
  }

 private:
  StageHost& host_;
  AsyncTarget& target_;
};

// How many elements of the batch ahead a body's answer is; nothing: the element's own rows will tell.
std::optional<std::int64_t> results_of(const Slot& slot, const BatchAhead& batch) {
  switch (slot.kind()) {
    case Slot::Kind::element: return batch.takes_apart ? std::nullopt : std::optional<std::int64_t>(1);
    case Slot::Kind::many:
      if (batch.takes_apart) return std::nullopt;
      return static_cast<std::int64_t>(slot.results().size());
    default: return 0;
  }
}

// A struct may say its members, and one of them be what nobody can see into.
std::string name_of_unseen(const Sealed& results) {
  const std::string whole = type_name(*results.unseen);
  return *results.unseen == *results.unseen_part ? whole : whole + " (because of " + type_name(*results.unseen_part) + " in it)";
}

}  // namespace

BodyScope::BodyScope(const StageHost* host, Group* group, const Context* context) noexcept
    : host_(host), group_(group), context_(context), outer_(innermost) {
  innermost = this;
}
BodyScope::~BodyScope() { innermost = outer_; }
const BodyScope* BodyScope::exchange(const BodyScope* scope) noexcept { return std::exchange(innermost, scope); }
bool BodyScope::inside_any() noexcept { return innermost != nullptr; }
int BodyScope::depth() noexcept {
  int depth = 0;
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) ++depth;
  return depth;
}
bool BodyScope::inside(const StageHost* host) noexcept {
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->host_ == host) return true;
  }
  return false;
}

bool BodyScope::is_unwanted() noexcept {
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->host_->stopped()) return true;
    if (scope->group_ != nullptr && std::atomic_ref(scope->group_->is_unwanted).load(std::memory_order_relaxed)) return true;
  }
  return false;
}
std::uint32_t BodyScope::pass() noexcept {
  return innermost == nullptr || innermost->context_ == nullptr ? 0 : innermost->context_->stamp().pass;
}

void Stage::run_group(Group& group) {
  if (group.is_unfolding) return unfold(group);
  group.elements = std::count_if(group.slots.begin(), group.slots.end(), [](const Slot& slot) { return slot.is_element(); });
  ++counters_.calls;
  if (plan_.form == Form::completes_later && !group.slots.empty() && group.slots.front().is_element()) {
    start_detached(group);
  } else {
    run_to_end(group);
  }
}

// Drawn for each call, by the time that has passed since the last one began: so however many are under way, they are sampled no more often than
// one in kBetweenSamples, and what follows a long call has no better chance than others, as it would by the clock alone.
bool Stage::sample_now(const Group& group) {
  if (!keeps_statistics_) return false;
  between_calls_ns_ += 0.05 * (static_cast<double>(group.started_ns - std::exchange(last_call_ns_, group.started_ns)) - between_calls_ns_);
  if (counters_.calls <= kFirstSamples) return true;
  const std::uint64_t drawn = mix64(static_cast<std::uint64_t>(counters_.calls)) >> 32;
  return static_cast<double>(drawn) * kBetweenSamples < between_calls_ns_ * 0x1p32;
}

void Stage::begin_sample(Group& group, CallClock& clock) const {
  group.sampling_ns = 0;
  if (!group.sampled) return;
  const std::int64_t asked_ns = machine_.now();
  clock.begin(!plan_.form_is_known);
  group.sampling_ns += machine_.now() - asked_ns;
}

ThreadUse Stage::end_sample(Group& group, CallClock& clock) const {
  if (!group.sampled) return {};
  const std::int64_t asked_ns = machine_.now();
  const ThreadUse use = clock.end();
  group.sampling_ns += machine_.now() - asked_ns;
  return use;
}

// The rest of a sample is counted by learn().
void Stage::count_use(const ThreadUse& use) {
  counters_.sampled_cpu_ns += use.cpu_ns;
  counters_.sampled_delay_ns += use.delay_ns;
}

std::vector<Trace::Key> Stage::keys_if_traced(const Slots& slots) const {
  return trace_ == nullptr ? std::vector<Trace::Key>() : Trace::keys_of(slots);
}

void Stage::trace_call(std::int64_t begin, std::int64_t elements, std::vector<Trace::Key> keys) const {
  const auto kind = on_pool_ ? Trace::Span::Kind::pool_call : Trace::Span::Kind::call;
  trace_->add({kind, static_cast<int>(index_), machine_.thread_number(), begin, machine_.now(), elements, std::move(keys)});
}

// What a call leaves for the books.
struct Stage::Outcome {
  Sealed sealed;
  std::int64_t held_bytes;
  std::int64_t copied_bytes;
  ThreadUse use;
};

void Stage::run_to_end(Group& group) {
  group.sampled = sample_now(group);
  open_call(group);
  std::optional<Outcome> outcome;
  {
    const MutexUnlock unlock(mutex_);
    outcome = run_call(group);
  }
  if (!outcome) return break_off(group);
  const ThreadUse& use = outcome->use;
  count_use(use);
  group.awake_ns = use.waits > 0 ? use.cpu_ns + use.delay_ns : Group::kAlways;
  counters_.copied_bytes += outcome->copied_bytes;
  const std::int64_t kept = outcome->held_bytes - std::exchange(held_bytes_, outcome->held_bytes);
  finish(group, outcome->sealed, kept);
}

// Nothing: the call was broken off for want of memory.
std::optional<Stage::Outcome> Stage::run_call(Group& group) {
  auto keys = keys_if_traced(group.slots);
  CallClock clock(machine_);
  begin_sample(group, clock);
  const std::int64_t copied_before = detail::copied_bytes_of_thread();
  if (!call_body(group)) return std::nullopt;
  const std::int64_t copied = detail::copied_bytes_of_thread() - copied_before;
  close_call(group);
  settle_places(group);
  if (is_source_) keys = keys_if_traced(group.slots);
  const Sealed sealed = seal_results(group);
  const std::int64_t held = body_->held_bytes();
  const ThreadUse use = end_sample(group, clock);
  give_back_heap_top();
  const std::int64_t elements = is_source_ ? static_cast<std::int64_t>(keys.size()) : group.elements;
  if (trace_ != nullptr) trace_call(group.started_ns, elements, std::move(keys));
  return Outcome{sealed, held, copied, use};
}

// False: the call was broken off for want of memory; the group is as it was.
bool Stage::call_body(Group& group) {
  CallServices services(outside(), *this, group);
  bool ran = true;
  std::exception_ptr no_memory;  // for the engine's own lists
  auto call = [&] {
    try {
      with_context(services, group, [&](Context& context) {
        const BodyScope scope(&outside(), &group, &context);
        body_->run(group, context);
      });
    } catch (const detail::RetryWhenMemoryIsFree&) {
      ran = false;
    } catch (...) {
      no_memory = detail::current_failure();  // TBB need not see it
    }
  };
  outside().launcher().run_body(CallRef(call));
  if (no_memory) std::rethrow_exception(no_memory);
  return ran;
}

template <class Call>
void Stage::with_context(detail::ContextServices& services, Group& group, Call&& call) {
  std::optional<GroupPlaces> places;
  if (group.first_turn != SlotLedger::kNoTurn) places.emplace(*ledger_, group.slots, group.first_turn);
  const std::uint64_t seed = mix64(outside().seed() + plan_.random_key);
  Context context(is_source_ ? passes_.stop_token() : outside().stop_token(), seed, &services, places ? &*places : nullptr);
  call(context);
}

void Stage::count_more(Group& group, std::int64_t bytes) noexcept {
  host_.memory().overshoot(bytes);
  if (!group.is_open()) {
    group.reserved += bytes;
    return;
  }
  MutexLock lock(group.call->mutex);  // a part of the group may be leaving, with its share
  group.reserved += bytes;
}

// Before the results are sealed and may leave: tells the ledger how many came.
void Stage::settle_places(const Group& group) {
  if (group.first_turn == SlotLedger::kNoTurn) return;
  std::int64_t turn = group.first_turn + static_cast<std::int64_t>(group.taken);
  for (const Slot& slot : group.slots) ledger_->complete(turn++, results_of(slot, plan_.batch));
}

void Stage::break_off(Group& group) {
  host_.memory().release(group.reserved);
  put_back(group);
}

void Stage::start_detached(Group& group) {
  ++detached_;
  auto target = std::make_shared<AsyncTarget>(*this, group);
  group.target = target;
  group.sampled = sample_now(group);
  ThreadUse use;
  {
    const MutexUnlock unlock(mutex_);
    use = start_call(group, target);
  }
  count_use(use);
}

ThreadUse Stage::start_call(Group& group, const std::shared_ptr<AsyncTarget>& target) {
  const bool sampled = group.sampled;
  const std::int64_t begin = group.started_ns;
  auto keys = keys_if_traced(group.slots);
  CallClock clock(machine_);
  begin_sample(group, clock);
  StartServices services(outside(), *target);
  std::exception_ptr error;
  try {
    with_context(services, group, [&](Context& context) {
      const BodyScope scope(&outside(), nullptr, &context);  // the group may be gone before the call is
      body_->start(group, context, Completion(target));
    });
  } catch (...) {
    error = detail::current_failure();
  }
  target->started(std::move(error));  // from here on the group may be gone
  const ThreadUse use = sampled ? clock.end() : ThreadUse();  // behind what the call lasts
  if (trace_ != nullptr) trace_call(begin, 1, std::move(keys));
  return use;
}

void Stage::complete(Group& group, Slot::Kind kind, Element value) noexcept {
  Slot& slot = group.slots.front();
  slot.value = std::move(value);
  slot.set_kind(kind);
  Sealed sealed;
  {
    MutexLock lock(mutex_);
    or_give_up([&]() REQUIRES(mutex_) {
      const MutexUnlock unlock(mutex_);
      settle_places(group);
      sealed = seal_results(group);
    });
    ++completing_;  // before the group lets go of its target, by which stop() would find this call
    --detached_;
    group.target.reset();
    account(machine_.now());
    if (trace_ != nullptr) trace_->add({Trace::Span::Kind::later_call, static_cast<int>(index_), 0, group.started_ns, accounted_until_, 1, {}});
    finish(group, sealed, 0);
    pump();
  }
  outside().offer_memory();
  MutexLock lock(mutex_);
  if (--completing_ == 0) completed_.notify_all();
}

// The group's results are ready to leave.
void Stage::finish(Group& group, const Sealed& results, std::int64_t kept_bytes) {
  const std::int64_t now = machine_.now();
  account(now);
  --running_;
  const auto inputs = is_source_ ? static_cast<std::int64_t>(group.slots.size()) : group.elements;
  group.reserved += std::exchange(group.reserved_since, 0);
  const bool knew_nothing = bytes_average_ <= 0;
  learn(group, inputs, results.bytes + results.folded, now);
  release_results(group, results, kept_bytes);
  if (knew_nothing && !plan_.passes_memory_on) reserve_for_first_calls();
}

// A group, or the first part of one, may leave.
void Stage::release_results(Group& group, const Sealed& results, std::int64_t kept_bytes) {
  group.state = Group::State::done;
  unsent_ += static_cast<std::int64_t>(group.slots.size());
  counters_.bytes_out += results.bytes;
  counters_.errors += results.errors;
  made_ += results.elements;
  bytes_largest_ = std::max(bytes_largest_, static_cast<double>(results.largest));
  if (results.unseen != nullptr && counters_.unseen_type.empty()) counters_.unseen_type = name_of_unseen(results);
  const std::int64_t bytes = results.bytes + results.folded;
  const std::int64_t folded_before = std::exchange(group.folded_bytes, results.folded);
  folded_bytes_ += results.folded - folded_before;
  hollow_bytes_ += results.hollow - std::exchange(group.hollow_bytes, results.hollow);
  if (plan_.passes_memory_on || group.is_unfolding) {
    host_.memory().charge(bytes + kept_bytes - group.input_bytes - group.reserved - folded_before);
  } else {
    host_.memory().settle(group.reserved, group.input_bytes, bytes);
  }
  group.reserved = group.input_bytes = 0;
  if (group.is_unwanted) let_go_of_folded(group);
}

// `inputs`: those that have not left in parts, whose share of the time was as long.
void Stage::learn(const Group& group, std::int64_t inputs, std::int64_t output_bytes, std::int64_t now) {
  counters_.completed += inputs;
  const std::int64_t time = now - group.started_ns - group.sampling_ns;
  const std::int64_t timed = inputs + (plan_.serial && !is_source_ ? 0 : static_cast<std::int64_t>(group.taken));
  if (group.sampled) {
    ++counters_.samples;
    counters_.sampled_elements += timed;
    counters_.sampled_wall_ns += time;
    counters_.sampled_waiting_ns += std::max<std::int64_t>(time - group.awake_ns, 0);
    counters_.sampling_ns += group.sampling_ns;
  }
  if (timed == 0) return;
  const double each = static_cast<double>(time) / static_cast<double>(timed);
  if (keeps_statistics_) counters_.service_times[service_time_bucket(static_cast<std::int64_t>(each))] += timed;
  slot_ns_average_ += (slot_ns_average_ > 0 ? 0.1 : 1.0) * (each - slot_ns_average_);
  if (inputs == 0) return;
  const double bytes = static_cast<double>(output_bytes) / static_cast<double>(inputs);
  const double input = static_cast<double>(group.input_bytes) / static_cast<double>(inputs);
  bytes_average_ += (bytes_average_ > 0 ? 0.1 : 1.0) * (bytes - bytes_average_);
  if (bytes_largest_ > bytes_average_) bytes_largest_ += kForgets * (bytes_average_ - bytes_largest_);
  input_average_ += (input_average_ > 0 ? 0.1 : 1.0) * (input - input_average_);
}

}  // namespace penstock::exec
