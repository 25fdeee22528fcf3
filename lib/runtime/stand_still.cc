#include "lib/runtime/stand_still.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/base/text.h"
#include "lib/runtime/stuck_calls.h"

namespace penstock::runtime {
namespace {

constexpr std::size_t kMostTold = 20;  // stages

std::string age(std::int64_t ns) { return format_duration(std::chrono::nanoseconds(ns)); }

std::string count(std::int64_t number, const char* one, const char* several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

std::string calls(const StageSnapshot& stage, const exec::Plan& plan) {
  std::string text = count(stage.running, "call", "calls") + " under way, the oldest for " + age(stage.oldest_call_ns);
  if (stage.oldest_call_ordinal < 0) return text;
  return text + ", at " + oldest_element(stage, plan) + " or one behind it";
}

// Results that are done and have not left.
std::int64_t done(const StageSnapshot& stage) {
  return std::max<std::int64_t>(stage.in_window - stage.ready - stage.running, 0);
}

// Empty: nothing is.
std::string held_up_by_order(const StageSnapshot& stage) {
  const std::int64_t kept = done(stage);
  if (kept <= 0 || stage.running <= 0 || !stage.ordered) return {};
  return count(kept, "element is", "elements are") +
         " begun or done behind the oldest, which holds them up: order is kept";
}

void add(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
}

std::string what_waits(const StageSnapshot& stage, const exec::Plan& plan) {
  std::string text;
  if (stage.running > 0) add(text, calls(stage, plan));
  if (stage.waits_for_memory) add(text, "waits for memory");
  if (stage.waits_for_cpu_slot) add(text, "waits for a CPU slot");
  add(text, held_up_by_order(stage));
  if (stage.credits == 0 && stage.running == 0) add(text, "waits for the next stage to make room");
  const std::int64_t waiting = stage.ready + stage.waiting_input;
  if (waiting > 0) add(text, count(waiting, "element waits", "elements wait") + " to be begun");
  return text.empty() ? "waits for the stage before" : text;
}

std::string place_of(const exec::StagePlan& stage) {
  return stage.label.name + " (op " + std::to_string(stage.label.position) + ")";
}

bool has_permits(const StageSnapshot& stage) { return stage.running > 0 && !stage.on_pool && !stage.completes_later; }

// Calls that have all CPU permits: whose they are; empty: there is a permit for who needs one, or calls of other runs
// have them.
std::string holders_of_permits(const Snapshot& snapshot, const exec::Plan& plan) {
  std::string names;
  if (std::ranges::none_of(snapshot.stages, &StageSnapshot::waits_for_cpu_slot)) return names;
  for (std::size_t i = 0; i < std::min(snapshot.stages.size(), plan.stages.size()); ++i) {
    if (has_permits(snapshot.stages[i])) names += (names.empty() ? "" : " and ") + place_of(plan.stages[i]);
  }
  return names;
}

// Of the function whose calls are nearest to the consumer: what is behind waits for them.
std::string advice_on_parallelism(const Snapshot& snapshot, const exec::Plan& plan) {
  for (std::size_t i = std::min(snapshot.stages.size(), plan.stages.size()); i-- > 0;) {
    const exec::StagePlan& stage = plan.stages[i];
    if (snapshot.stages[i].running == 0) continue;
    if (stage.serial) return {};
    if (!stage.parallelism.is_automatic()) {
      return "The parallelism of " + place_of(stage) + " is fixed at " +
             std::to_string(snapshot.stages[i].parallelism) +
             ". If its calls wait for each other, it has to be as many as do; if they wait for buffers of a pool, "
             "\"Waiting\" in penstock/dataset.h says "
             "how many of these are enough";
    }
    return "If " + place_of(stage) +
           " waits for something that the consumer or another element holds (a buffer of a pool, say), fix its "
           "parallelism: \"Waiting\" in penstock/dataset.h says how many elements may then be under way";
  }
  return {};
}

std::string advice(const Snapshot& snapshot, const exec::Plan& plan) {
  const std::string holders = holders_of_permits(snapshot, plan);
  if (holders.empty()) return advice_on_parallelism(snapshot, plan);
  return "Calls of " + holders +
         " have all CPU slots. If they wait, for each other or for what others hold, say {.blocks = true} there: then "
         "they need none. Or give the run more of them (RunOptions::threads)";
}

// A merge: others of its inputs may come, and it looks at them in vain.
bool lacks_an_input(const Snapshot& snapshot, std::size_t merge) {
  return std::ranges::any_of(snapshot.stages, [merge](const StageSnapshot& stage) {
    return !stage.awaited && stage.feeds == static_cast<int>(merge);
  });
}

// What the consumer waits for, and the rest where that is not much.
std::string stages(const Snapshot& snapshot, const exec::Plan& plan) {
  const std::size_t all = std::min(snapshot.stages.size(), plan.stages.size());
  std::string text;
  std::size_t told = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const bool is_told = told < kMostTold && (all <= kMostTold || snapshot.stages[i].awaited);
    if (!is_told) continue;
    ++told;
    const exec::StageLabel& stage = plan.stages[i].label;
    text += "\n  " + stage.name + " (op " + std::to_string(stage.position) +
            (stage.call_site.empty() ? "" : ", " + stage.call_site) + "): " + what_waits(snapshot.stages[i], plan);
  }
  if (told < all) text += "\n  and " + count(static_cast<std::int64_t>(all - told), "other stage", "other stages");
  const std::string hint = advice(snapshot, plan);
  return hint.empty() ? text : text + "\n  " + hint;
}

}  // namespace

std::string stand_still_text(const Snapshot& snapshot, const exec::Plan& plan, std::int64_t since_ns) {
  return "nothing that the consumer waits for has moved for " + age(since_ns) + ", after " +
         count(snapshot.consumer.taken, "element", "elements") + stages(snapshot, plan);
}

std::string help_text(const Snapshot& snapshot, const exec::Plan& plan, std::int64_t times) {
  return "slow: " + count(times, "time", "times") + " in " + count(snapshot.consumer.taken, "element", "elements") +
         ", nothing moved that the consumer waited for, until a thread was lent to the run" + stages(snapshot, plan);
}

std::int64_t StandStill::look(const Snapshot& now) noexcept {
  std::int64_t moved = now.consumer.taken;
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageSnapshot& stage = now.stages[i];
    if (!stage.awaited) continue;
    moved += stage.elements_out + stage.completed + stage.made;
    if (!lacks_an_input(now, i)) moved += stage.elements_in + stage.calls;
  }
  if (!now.consumer.waiting || moved != std::exchange(moved_, moved)) since_ns_ = now.time_ns;
  return now.time_ns - since_ns_;
}

void StandStill::was_helped(const Snapshot& now) noexcept {
  if (now.time_ns - helped_ns_ >= kPatience) helped_ = 0;
  ++helped_;
  helped_ns_ = now.time_ns;
}

std::string StandStill::text(const Snapshot& now, const exec::Plan& plan) const {
  if (stands(now)) return stand_still_text(now, plan, now.time_ns - since_ns_);
  return lives_on_help(now) ? help_text(now, plan, helped_) : std::string();
}

bool StandStill::is_news(const Snapshot& now) noexcept {
  if (stands(now)) return !std::exchange(told_of_stand_, true);
  return lives_on_help(now) && !std::exchange(told_of_help_, true);
}

}  // namespace penstock::runtime
