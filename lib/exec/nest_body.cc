#include "lib/exec/nest_body.h"

#include <algorithm>
#include <iterator>
#include <stop_token>
#include <utility>

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

// What has left before the run was resumed.
void leave_out_given(Inner& inner, Slots& made) {
  if (inner.to_skip == 0) return;
  inner.to_skip -= static_cast<std::int64_t>(made.size());
  made.clear();
}

// Behind the handler, which has the exception, too. Where one slot had been given, it had failed before.
void end_by_failure(Group& group, Slots& failure) {
  if (failure.empty()) return;
  group.inner->has_ended = true;
  if (group.inner->to_skip != 1) hand_over(group, failure);
}

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
  end_by_failure(group, failure);
  if (context.is_unwanted()) inner.has_ended = true;
  if (!inner.was_opened) group.slots.clear();  // what it was to be made of
  if (inner.has_ended) inner.dataset.reset();
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

void NestBody::read(Group& group, Context& context) const {
  Inner& inner = *group.inner;
  const bool by_one = op_->form() == Form::blocks || inner.dataset->may_wait();
  const std::stop_callback at_the_end_of_the_run(context.stop_token(), RequestStop{inner.stop});
  const std::stop_token stop = inner.stop.get_token();
  const std::int64_t begin = host_.now();
  Slots made;
  std::int64_t count = 0, at_once = 1;
  for (bool goes_on = true; goes_on && !inner.has_ended && count < inner.wanted;) {
    const std::int64_t most = std::min(at_once, inner.to_skip > 0 ? inner.to_skip : inner.wanted - count);
    inner.has_ended = !inner.dataset->pull(made, static_cast<std::size_t>(most), context, stop);
    leave_out_given(inner, made);
    count += static_cast<std::int64_t>(made.size());
    const bool is_wanted_back = hand_over(group, made);
    const std::int64_t time = host_.now() - begin;
    at_once = by_one ? 1 : next_at_once(at_once, time, count);
    goes_on = !is_wanted_back && !context.is_unwanted() && time < (count == 0 ? kPatience : 1) * inner.grain_ns;
  }
}

}  // namespace penstock::exec
