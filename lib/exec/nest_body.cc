#include "lib/exec/nest_body.h"

#include <algorithm>
#include <iterator>
#include <stop_token>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/inner.h"
#include "lib/exec/inner_dataset.h"

namespace penstock::exec {
namespace {

// Slots that are pulled together, of those that take no longer than it costs to pull one by itself: they leave
// together.
constexpr std::int64_t kMostAtOnce = 16;
constexpr std::int64_t kQuick = 2'000;   // ns
constexpr std::int64_t kPatience = 100;  // grains, for a first slot

std::int64_t next_at_once(std::int64_t before, std::int64_t time, std::int64_t count) {
  return time < kQuick * count ? std::min(2 * before, kMostAtOnce) : 1;
}

struct RequestStop {
  std::stop_source& stop;
  void operator()() const noexcept { stop.request_stop(); }
};

// True: others want the call to return.
bool hand_over(Group& group, Slots& made) {
  if (!group.is_open()) {
    std::ranges::move(made, std::back_inserter(group.slots));
    made.clear();
    return false;
  }
  OpenCall& call = *group.call;
  MutexLock lock(call.mutex);
  call.add(group.slots, made);
  return call.progress.is_wanted_back.load(std::memory_order_relaxed);
}

// Nobody wants what it gives, and it may be anything.
bool is_cut(const Inner& inner, const Context& context) { return context.is_unwanted() || inner.stop.stop_requested(); }

}  // namespace

void NestBody::run(Group& group, Context& context) {
  Inner& inner = *group.inner;
  context.enter(Slot(Element(), inner.stamp));  // runs that functions inside begin are part of the element's pass
  Slots failure;
  try {
    go_on(group, context);
  } catch (...) {
    append_failure(failure, inner.stamp);
  }
  if (!failure.empty()) fail(group, failure, context);  // behind the handler, which has the exception, too
  if (context.is_unwanted()) inner.has_ended = true;
  if (!inner.was_opened) group.slots.clear();  // what it was to be made of
  if (inner.has_ended) end(inner, context);
  inner.held_bytes = inner.dataset ? inner.dataset->held_bytes() : 0;
}

void NestBody::go_on(Group& group, Context& context) {
  const Inner& inner = *group.inner;
  if (!context.is_unwanted() && !inner.was_opened) open(group, context);
  if (!context.is_unwanted() && inner.dataset != nullptr) read(group, context);
}

void NestBody::open(Group& group, Context& context) {
  Inner& inner = *group.inner;
  const std::int64_t begin = host_.now();
  inner.was_opened = true;
  Slot element = std::move(group.slots.front());
  group.slots.clear();
  if (op_->has_state() && std::exchange(pass_, inner.pass) != inner.pass) calls_.end_pass();
  inner.dataset = InnerDataset::open(calls_, std::move(element), context, 1);
  inner.opening_ns = host_.now() - begin;
}

void NestBody::fail(Group& group, Slots& failure, const Context& context) const {
  group.inner->has_ended = true;
  leave_out_given(*group.inner, failure, context);
  hand_over(group, failure);
}

// What has left before the run was resumed.
void NestBody::leave_out_given(Inner& inner, Slots& made, const Context& context) const {
  if (!inner.again.goes_on()) return;
  for (const Slot& slot : made) {
    if (!inner.again.take(slot) && !is_cut(inner, context)) host_.give_up(fails_this_time(slot));
  }
  made.clear();
}

// It may have fewer slots than it had given.
void NestBody::end(Inner& inner, const Context& context) const {
  inner.dataset.reset();
  const bool is_short = std::exchange(inner.again, {}).goes_on();
  if (!is_short || is_cut(inner, context)) return;
  host_.give_up(std::make_exception_ptr(Error(
      ErrorCode::data_loss,
      "a dataset that was open when the checkpoint was taken ends this time before its place there. Resume with the "
      "input that it was taken of, or start the epoch anew")));
}

void NestBody::read(Group& group, Context& context) const {
  Inner& inner = *group.inner;
  const bool by_one = op_->form() == Form::blocks || inner.dataset->may_wait();
  const std::stop_callback at_the_end_of_the_run(context.stop_token(), RequestStop{inner.stop});
  const std::stop_token stop = inner.stop.get_token();
  const std::int64_t begin = host_.now();
  Slots made;
  std::int64_t pulled = 0, count = 0, at_once = 1;
  for (bool goes_on = true; goes_on && !inner.has_ended && count < inner.wanted;) {
    const std::int64_t most =
        std::min(at_once, inner.again.goes_on() ? inner.again.count().slots : inner.wanted - count);
    inner.has_ended = !inner.dataset->pull(made, static_cast<std::size_t>(most), context, stop);
    pulled += static_cast<std::int64_t>(made.size());
    leave_out_given(inner, made, context);
    count += static_cast<std::int64_t>(made.size());
    const bool is_wanted_back = hand_over(group, made);
    const std::int64_t time = host_.now() - begin;
    at_once = by_one ? 1 : next_at_once(at_once, time, pulled);
    goes_on = !is_wanted_back && !context.is_unwanted() && time < (count == 0 ? kPatience : 1) * inner.grain_ns;
  }
}

}  // namespace penstock::exec
