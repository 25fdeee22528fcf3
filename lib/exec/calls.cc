#include "lib/exec/calls.h"

#include <algorithm>
#include <utility>

#include "lib/core/heap_top.h"
#include "lib/exec/async_target.h"
#include "lib/exec/body_scope.h"
#include "lib/exec/open_call.h"
#include "lib/exec/ring.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kLargestPart = 1024;  // results of a group that get their slots at once

// What one call may ask.
class CallServices final : public detail::ContextServices {
 public:
  CallServices(StageHost& host, StageSigns& signs, Group& group) : host_(host), signs_(signs), group_(group) {}

  std::string origin(const Stamp& stamp) const override { return host_.item(stamp).name; }
  bool is_unwanted(bool is_stopped) const noexcept override {
    if (is_stopped) BodyScope::note_cuts_inside(group_);
    return BodyScope::is_unwanted() || is_stopped;
  }
  void count_dropped(std::int64_t errors) noexcept override {
    signs_.dropped.fetch_add(errors, std::memory_order_relaxed);
  }
  std::int64_t memory_budget() const noexcept override { return host_.facts().memory.limit(); }

  // What an earlier, broken-off attempt asked for is part of this one's reservation. A group of several cannot be
  // broken off: some of its elements are answered already. Nor can one in which a function of another run asks: that
  // run would take it for a call of its own.
  bool try_reserve(std::int64_t more, bool may_refuse) override {
    asked_ += more;
    if (asked_ <= group_.memory.needs) return true;
    if (!may_refuse || group_.slots.size() != 1 || !BodyScope::is_innermost(group_)) {
      count_more(group_, host_.facts().memory, more);
      return true;
    }
    if (!host_.facts().memory.reserve(more, group_.memory.is_forced)) {
      group_.memory.needs = asked_;
      return false;
    }
    group_.memory.reserved += more;
    return true;
  }

 private:
  StageHost& host_;
  StageSigns& signs_;
  Group& group_;
  std::int64_t asked_ = 0;
};

// What start() may ask: also after it has given its Completion away, when the group may be gone.
class StartServices final : public detail::ContextServices {
 public:
  StartServices(StageHost& host, AsyncTarget& target) : host_(host), target_(target) {}

  std::string origin(const Stamp& stamp) const override { return host_.item(stamp).name; }
  bool try_reserve(std::int64_t bytes, bool) override {
    target_.count_more(bytes);
    return true;
  }

 private:
  StageHost& host_;
  AsyncTarget& target_;
};

// How many elements of the batch ahead an answer makes. Nothing: only taking the answer apart will tell.
std::optional<std::int64_t> results_of(const Slot& slot, const BatchAhead& batch) {
  switch (slot.kind()) {
    case Slot::Kind::element: return batch.takes_apart ? std::nullopt : std::optional<std::int64_t>(1);
    case Slot::Kind::many:
      if (batch.takes_apart) return std::nullopt;
      return static_cast<std::int64_t>(slot.results().size());
    default: return 0;
  }
}

}  // namespace

void count_more(Group& group, MemoryBudget& memory, std::int64_t bytes) noexcept {
  memory.overshoot(bytes);
  if (!group.is_open()) {
    group.memory.reserved += bytes;
    return;
  }
  MutexLock lock(group.call->mutex);  // a part of the group may be leaving, with its share
  group.memory.reserved += bytes;
}

void Calls::close(Group& group, Record& record) const {
  const bool was_open = group.call != nullptr && std::exchange(group.call->is_counted, false);
  if (was_open) group.taken = group.call->close();
  if (traits_.makes_slots) record.keys_ = keys_if_traced(group.slots);  // what has left is still told by its stamp
  if (!was_open && group.inner) group.taken = 0;                        // of its call before
  if (!was_open) return;
  signs_.open_calls.fetch_sub(1, std::memory_order_relaxed);
  group.slots.erase(group.slots.begin(), group.slots.begin() + static_cast<std::ptrdiff_t>(group.taken));
}

bool Calls::run(Group& group, Record& record) const {
  begin_record(group, record);
  const std::int64_t copied_before = detail::copied_bytes_of_thread();
  const std::int64_t elements = group.inputs.elements;  // parts that leave meanwhile take theirs along
  if (!call_body(group)) return false;
  record.elements_ = elements - elements_of(group.rest.slots);
  record.copied_bytes_ = detail::copied_bytes_of_thread() - copied_before;
  record.keys_.resize(record.keys_.size() - keys_if_traced(group.rest.slots).size());
  return true;
}

Calls::Outcome Calls::end(Group& group, Record& record) const {
  settle_rows(group);
  const Sealed sealed = seal(group);
  const std::int64_t held = body_->held_bytes();
  const ThreadUse use = end_sample(group, record);
  give_back_heap_top();
  const std::int64_t elements = traits_.makes_slots ? static_cast<std::int64_t>(record.keys_.size()) : record.elements_;
  if (trace_ != nullptr) trace_call(group.start.ns, elements, std::move(record.keys_));
  return {sealed, held, record.copied_bytes_, use};
}

void Calls::begin_record(Group& group, Record& record) const {
  record.keys_ = keys_if_traced(group.slots);
  group.sample.asking_ns = 0;
  if (!group.sample.is_taken) return;
  const std::int64_t asked_ns = traits_.machine.now();
  record.clock_.begin(!traits_.plan.form_is_known);
  group.sample.asking_ns += traits_.machine.now() - asked_ns;
}

ThreadUse Calls::end_sample(Group& group, Record& record) const {
  if (!group.sample.is_taken) return {};
  const std::int64_t asked_ns = traits_.machine.now();
  const ThreadUse use = record.clock_.end();
  group.sample.asking_ns += traits_.machine.now() - asked_ns;
  return use;
}

std::vector<Trace::Key> Calls::keys_if_traced(const Slots& slots) const {
  return trace_ == nullptr ? std::vector<Trace::Key>() : Trace::keys_of(slots);
}

void Calls::trace_call(std::int64_t begin, std::int64_t elements, std::vector<Trace::Key> keys) const {
  const auto kind = signs_.on_pool ? Trace::Span::Kind::pool_call : Trace::Span::Kind::call;
  const int stage = static_cast<int>(traits_.index);
  trace_->add({kind, stage, traits_.machine.thread_number(), begin, traits_.machine.now(), elements, std::move(keys)});
}

void Calls::trace_later_call(const Group& group) const {
  if (trace_ == nullptr) return;
  trace_->add({Trace::Span::Kind::later_call,
               static_cast<int>(traits_.index),
               0,
               group.start.ns,
               traits_.machine.now(),
               1,
               {}});
}

// False: the call was broken off for want of memory; the group is as it was.
bool Calls::call_body(Group& group) const {
  CallServices services(host_, signs_, group);
  bool ran = true;
  std::exception_ptr no_memory;  // for the engine's own lists
  auto call = [&] {
    try {
      with_context(services, group, [&](Context& context) {
        const BodyScope scope(&host_, &group, &context);
        body_->run(group, context);
      });
    } catch (const detail::RetryWhenMemoryIsFree&) {
      ran = false;
    } catch (...) {
      no_memory = detail::current_failure();  // TBB need not see it
    }
  };
  host_.facts().launcher.run_body(CallRef(call));
  if (no_memory) std::rethrow_exception(no_memory);
  return ran;
}

template <class Call> void Calls::with_context(detail::ContextServices& services, Group& group, Call&& call) const {
  std::optional<GroupRows> rows;
  if (group.place.has_turns()) rows.emplace(*ledger_, group.slots, group.place.first_turn);
  const std::uint64_t seed = mix64(host_.facts().seed + traits_.plan.random_key);
  Context context(traits_.is_source ? passes_.stop_token() : host_.facts().stop, seed, &services,
                  rows ? &*rows : nullptr);
  call(context);
}

ThreadUse Calls::start(Group& group, const std::shared_ptr<AsyncTarget>& target) const {
  const bool sampled = group.sample.is_taken;
  const std::int64_t begin = group.start.ns;
  Record record(traits_.machine);
  begin_record(group, record);
  StartServices services(host_, *target);
  std::exception_ptr error;
  try {
    with_context(services, group, [&](Context& context) {
      const BodyScope scope(&host_, nullptr, &context);  // the group may be gone before the call is
      body_->start(group, context, Completion(target));
    });
  } catch (...) {
    error = detail::current_failure();
  }
  target->started(std::move(error));                                  // from here on the group may be gone
  const ThreadUse use = sampled ? record.clock_.end() : ThreadUse();  // behind what the call lasts
  if (trace_ != nullptr) trace_call(begin, 1, std::move(record.keys_));
  return use;
}

// It may look at a file.
std::optional<std::int64_t> Calls::bytes_hint(const Group& group) const {
  const BodyScope scope(&host_);
  return body_->bytes_hint(group);
}

Sealed Calls::settle(Group& group) const {
  settle_rows(group);
  return seal(group);
}

void Calls::settle_rows(const Group& group) const {
  if (!group.place.has_turns()) return;
  std::int64_t turn = group.place.first_turn + static_cast<std::int64_t>(group.taken);
  for (const Slot& slot : group.slots) ledger_->complete(turn++, results_of(slot, traits_.plan.batch));
}

// A part takes a sixty-fourth of the budget at most. The user's bytes_of() is asked.
Sealed Calls::seal(Group& group) const {
  const BodyScope scope(&host_, &group);
  const std::int64_t affordable = host_.facts().memory.limit() / 64 / static_cast<std::int64_t>(sizeof(Slot));
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(affordable, 1, kLargestPart));
  return exec::seal(group, traits_.plan, *body_, most, [this](const Stamp& stamp) { return host_.item(stamp); });
}

}  // namespace penstock::exec
