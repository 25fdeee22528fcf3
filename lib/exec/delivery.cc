#include "lib/exec/delivery.h"

#include <algorithm>
#include <optional>

#include <penstock/error.h>

#include "lib/exec/body_scope.h"

namespace penstock::exec {
namespace {

constexpr std::chrono::nanoseconds kShortestPause = std::chrono::microseconds(50),
                                   kLongestPause = std::chrono::milliseconds(4);

constexpr std::size_t kReserve = 16 << 10;

}  // namespace

Delivery::Delivery(EngineState& state)
    : state_(state),
      reserve_(state.launcher->is_pumped() ? nullptr : std::make_unique_for_overwrite<std::byte[]>(kReserve)) {}

bool Delivery::next(Slot& slot, std::int64_t deadline) {
  while (!take(slot)) {
    check_given_up();
    if (!wait(deadline)) return false;
  }
  return true;
}

bool Delivery::take(Slot& slot) {
  std::int64_t credits = 0;
  const bool taken = state_.outlet.pop(slot, credits);
  if (taken) {
    // Released before the outlet counts as empty: from then on the last stage may start an element without room.
    state_.memory.release(slot.bytes());
    const bool is_mark = slot.kind() == Slot::Kind::pass_end;
    state_.outlet.count_taken(!slot.is_item());
    sequence_ = slot.stamp.sequence + (is_mark ? 1 : 0);
    if (is_mark) state_.passes.back()->forget_until(slot.stamp.sequence);
  }
  if (credits > 0) state_.ask_for_results(credits);  // also where nothing was there: room may have grown
  if (!taken) return false;
  if (!state_.outlet.has_slots()) state_.tell_nearest_that_reserves(state_.stages.size() - 1);
  state_.offer_memory();
  return true;
}

void Delivery::check_given_up() {
  const auto cause = state_.outlet.failure();
  if (!cause) return;
  free_reserve();  // a text takes some, too
  if (code_of(cause) == ErrorCode::cancelled)
    throw Error(ErrorCode::cancelled, "the run has been given up: " + message_of(cause));
  if (code_of(cause) == ErrorCode::data_loss) throw Error(ErrorCode::data_loss, message_of(cause));
  const bool is_short_of_memory = code_of(cause) == ErrorCode::resource_exhausted;
  throw Error(code_of(cause),
              "the run has ended before its time: " + message_of(cause) +
                  (is_short_of_memory ? ". What it was about is lost: make its shuffle buffers and batches smaller, or "
                                        "go on from a checkpoint"
                                      : ""));
}

bool Delivery::wait(std::int64_t deadline) {
  if (state_.launcher->is_pumped()) return state_.launcher->pump(deadline);
  std::optional<PermitGate::Loan> loan;
  if (state_.at_gate && BodyScope::inside_any()) loan.emplace(*state_.settings.gate, state_.at_gate);
  return state_.outlet.wait(deadline, look_pause_, [this] { return look_around(); });
}

// At first as often as looking was worth it last time. Where the system gives no more threads, all of them may wait as
// this one does.
std::chrono::nanoseconds Delivery::look_around() {
  bool found = state_.look_after_calls();
  if (state_.launcher->lacks_threads()) found = state_.launcher->run_waiting_here() || found;
  const bool is_busy = std::ranges::any_of(
      state_.stages, [](const auto& stage) { return stage->signs().open_calls.load(std::memory_order_relaxed) > 0; });
  look_pause_ = found ? std::max(look_pause_ / 2, kShortestPause)
                      : std::min(look_pause_ * 2, is_busy ? kLongestPause / 2 : kLongestPause);
  return look_pause_;
}

}  // namespace penstock::exec
