#include "lib/exec/sizes.h"

#include <algorithm>

namespace penstock::exec {
namespace {

constexpr double kWidest = 100;          // times the grain: 2 ms by default
constexpr double kWorthAThread = 2'000;  // ns: to hand an element to another thread costs 1 to 3 us
constexpr double kTwoGroups = 2 * static_cast<double>(kLargestGroup);  // one is made while another one waits
constexpr double kSmallElement = 4096;       // bytes; larger ones are not worth buffering by the hundred
constexpr double kCheapCall = 1'000'000;     // ns; a dearer element is delivered at once
constexpr double kWakeHorizon = 16'000'000;  // ns, twice the outlet's pause between wake-ups

}  // namespace

std::int64_t Sizes::group(std::int64_t waiting) const {
  // One by one where calls wait: one would hold up what shares its group, though another thread could take it. Each
  // input of a nest is a dataset.
  if (traits_.one_at_a_time || traits_.plan.is_nest() || waits(traits_, signs_) || meter_.ns_per_slot() <= 0) return 1;
  const MemoryBudget& memory = traits_.memory;
  const double base = worth_a_call();
  // Nothing is won by sharing with threads that have other work.
  const std::int64_t calls = traits_.host.has_free_permit() ? knobs_.parallelism : 1;
  const double share = static_cast<double>((waiting + calls - 1) / calls);
  const double most = static_cast<double>(kLargestGroup);
  double size = std::max(std::clamp(base, 1.0, most), std::min({share, kWidest * base, most}));
  const double budget = static_cast<double>(memory.limit()) / 16;
  if (size * expected_bytes() > budget) size = std::max(1.0, budget / expected_bytes());
  if (memory.used() >= memory.limit()) size = std::min(size, static_cast<double>(forced()));
  // Within the window all calls have work where each takes little. Cheap elements are run by one thread after the other
  // instead.
  if (!traits_.keeps_near || meter_.ns_per_slot() <= kWorthAThread) return static_cast<std::int64_t>(size);
  return std::min(static_cast<std::int64_t>(size), std::max<std::int64_t>(knobs_.window / knobs_.parallelism, 1));
}

std::int64_t Sizes::capacity() const {
  const bool is_fixed = !traits_.plan.buffer.is_automatic();  // by the user, who may have no more elements than that
  if (is_fixed || traits_.one_at_a_time || waits(traits_, signs_)) return knobs_.buffer;
  return std::max(knobs_.buffer, small_elements(2 * kWidest * static_cast<double>(knobs_.grain_ns)));
}

// Two blocks, so that one can be made while the other leaves, but no more than a quarter of the budget in all places;
// and more of what is cheap and small, for a call costs microseconds.
std::int64_t Sizes::inner_buffer() const {
  if (traits_.one_at_a_time) return 1;
  const NestPlan& nest = traits_.plan.nest;
  const double bytes = std::max(meter_.bytes(), 1.0) * static_cast<double>(nest.cycle_length);
  const double blocks = 2 * static_cast<double>(std::min(nest.block_length, kLargestGroup));
  const double held = std::min(blocks, static_cast<double>(traits_.memory.limit()) / 4 / bytes);
  double cheap = 0;
  if (meter_.ns_per_slot() > 0 && meter_.bytes() < kSmallElement)
    cheap = std::min({2 * static_cast<double>(knobs_.grain_ns) / meter_.ns_per_slot(), affordable_bytes() / bytes,
                      static_cast<double>(kLargestGroup)});
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::max(held, cheap)), 1);
}

// Cheap calls go through many at a time, but no more than the user lets wait behind them. A stream op's are not its
// results: it may keep nothing of them.
std::int64_t Sizes::most_in_window() const {
  // Of a nest those of the cycle, and some that are opened ahead.
  if (traits_.plan.is_nest()) return traits_.plan.nest.cycle_length + (traits_.one_at_a_time ? 0 : knobs_.window);
  const Tunable& behind = traits_.plan.buffer_behind;
  if (behind.is_automatic() || traits_.plan.serial) return std::max(knobs_.window, capacity());
  const std::int64_t passing = knobs_.parallelism > 1 ? knobs_.window : 1;  // one call passes no other
  return std::max(passing, std::min(capacity(), behind.low()));
}

// A group as small as the room is followed by others as small, since each makes room for one when it leaves (the silly
// window syndrome: RFC 813, section 4). A window of which half is free is room enough for any.
std::int64_t Sizes::admitted(std::int64_t waiting, std::int64_t in_window) const {
  const std::int64_t most = most_in_window();
  const std::int64_t room = most - in_window;
  if (waiting == 0 || room <= 0) return 0;
  const std::int64_t wanted = std::min(group(waiting), waiting);
  const bool is_cut_short = room < wanted && static_cast<double>(room) < worth_a_call();
  return is_cut_short && 2 * room < most ? 0 : std::min(room, wanted);
}

// Slots; needs ns_per_slot() > 0.
double Sizes::worth_a_call() const { return static_cast<double>(knobs_.grain_ns) / meter_.ns_per_slot(); }

// How many elements all calls together make within that time, as far as memory does not count; 0 where it does.
std::int64_t Sizes::small_elements(double nanoseconds) const {
  const double bytes = std::max(meter_.bytes(), meter_.input_bytes());
  if (traits_.one_at_a_time || meter_.ns_per_slot() <= 0 || bytes >= kSmallElement) return 0;
  const double calls = static_cast<double>(knobs_.parallelism);
  const double made = std::min(nanoseconds / meter_.ns_per_slot(), kTwoGroups) * calls;
  return static_cast<std::int64_t>(std::min(made, affordable_bytes() / std::max(bytes, 1.0)));
}

// What small elements that are kept ready may hold, at each place where they are.
double Sizes::affordable_bytes() const { return static_cast<double>(traits_.memory.limit()) / 64; }

std::int64_t Sizes::forced() const {
  const double each = expected_bytes();
  if (each <= 0) return 1;
  return std::clamp(static_cast<std::int64_t>(static_cast<double>(traits_.memory.limit()) / 256 / each),
                    std::int64_t{1}, kLargestGroup);
}

// The rest of the books counts inputs, of which a batch takes many and a flat_map few.
std::int64_t Sizes::worth_waiting() const {
  const double results = meter_.results_each(0);
  const bool small = meter_.bytes() < kSmallElement * results;
  const std::int64_t soon = small && meter_.ns_per_slot() < kCheapCall ? small_elements(kWakeHorizon) : 0;
  const double most = static_cast<double>(std::max(capacity() / 2, soon)) * results;
  const double affordable = affordable_bytes() / std::max(meter_.bytes() / std::max(results, 1.0), 1.0);
  return static_cast<std::int64_t>(std::min(most, affordable));
}

bool Sizes::is_cheap() const noexcept {
  return traits_.plan.is_prompt && meter_.ns_per_slot() > 0 && meter_.ns_per_slot() < kCheapCall;
}

}  // namespace penstock::exec
