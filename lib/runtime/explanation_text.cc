// An Explanation as text for people: sentences that can be read aloud, then a table.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/explanation.h>

#include "lib/base/text.h"
#include "lib/core/print.h"

namespace penstock {
namespace {

constexpr std::size_t kLines = 20;
constexpr std::size_t kChanges = 3, kNests = 2;
constexpr double kNothing = 0.005;  // of a gain
constexpr double kMuchBetween = 0.05,
                 kPartBetween = 0.1;  // cores, and of those in use: less between calls is as it should be

using Change = Explanation::Change;
using Problem = Explanation::Problem;

// Three digits: "0.214", "12.3", "1905".
std::string number(double value) {
  if (!std::isfinite(value)) return "unknown";
  if (value < 0.0005) return "0";
  return print(value < 999.5 ? "%.3g" : "%.0f", value);
}

std::string rate(double value) { return std::isfinite(value) ? number(value) + "/s" : "unknown"; }
std::string percent(double share) { return std::isfinite(share) ? print("%.0f %%", 100 * share) : "unknown"; }
std::string count(std::int64_t value) { return std::to_string(value); }

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  return format_duration(std::chrono::nanoseconds(std::llround(std::min(1e9 * seconds, 9e18))));
}

std::string bytes(double value) {
  return std::isfinite(value) ? format_bytes(static_cast<std::uint64_t>(std::clamp(value, 0.0, 9e18))) : "unknown";
}

class Report {
 public:
  explicit Report(const Explanation& of) : of_(of) {}

  std::string text() {
    stand_still();
    line(headline());
    line("bottleneck: " + bottleneck());
    if (of_.bottleneck.limit != Limit::unknown) line("why not more: " + hold());
    if (!of_.bounds.empty() && !of_.serial) line("at most: " + bounds());
    for (const auto& change : of_.what_ifs) line(what_if(change));
    if (of_.time > 0) line(resources());
    changes();
    for (const auto& warning : of_.warnings) line("warning: " + problem(warning));
    rewrites();
    nests();
    table();
    return text_;
  }

 private:
  void line(const std::string& text) {
    text_ += text + "\n";
    ++lines_;
  }

  // It has lines of its own.
  void stand_still() {
    if (of_.stand_still.empty()) return;
    lines_ += static_cast<std::size_t>(std::ranges::count(of_.stand_still, '\n'));
    line(of_.stand_still);
  }

  // "decode (op 4)"
  std::string stage(int index) const {
    const auto i = static_cast<std::size_t>(index);
    if (index < 0 || i >= of_.stages.size()) return "the pipeline";
    return of_.stages[i].name + " (op " + count(of_.stages[i].position) + ")";
  }

  const Explanation::Stage& it() const {
    return of_.stages[static_cast<std::size_t>(std::max(of_.bottleneck.stage, 0))];
  }

  std::string why_serial() const {
    return of_.inside_another_run ? "it was begun inside a function of another run" : "RunOptions::serial";
  }

  std::string headline() const {
    if (of_.delivered.samples <= 0) return "nothing was delivered in " + duration(of_.window);
    std::string text = "delivering " + number(of_.delivered.value);
    if (std::isfinite(of_.delivered.error)) text += " +- " + number(of_.delivered.error);
    text += " elements/s (" + count(of_.delivered.samples) + " in " + duration(of_.window) + ")";
    if (!of_.stages.empty()) text += ", made of " + number(of_.stages.front().rate) + "/s from the source";
    text += "; the consumer waits " + percent(of_.wait_share.value) + " of the time -> ";
    if (of_.serial) return text + "one thread does everything in turn (" + why_serial() + ")";
    return text + (of_.input_bound() ? "input-bound: the pipeline is too slow for it"
                                     : "it is served: the pipeline is fast enough");
  }

  std::string calls() const {
    return duration(it().call.value) + " a call, " + duration(it().cpu) + " of it on a core";
  }

  std::string bottleneck() const {
    switch (of_.bottleneck.limit) {
      case Limit::unknown: return "unknown; too little has happened yet";
      case Limit::consumer:
        return "the consumer; it is busy itself for " + percent(of_.bottleneck.use) + " of the time";
      case Limit::cpu:
        return (of_.bottleneck.hold == Hold::other_processes ? "the cores, which other processes use; "
                                                             : "the cores; ") +
               cores();
      case Limit::serial:
        return stage(of_.bottleneck.stage) + "; it takes one element at a time, and is at it " +
               percent(of_.bottleneck.use) + " of the time: " + calls();
      case Limit::parallel: return stage(of_.bottleneck.stage) + "; " + under_way() + ": " + calls();
      case Limit::ceiling:
        return "what " + stage(of_.bottleneck.stage) + " waits for, a device or a lock; " + under_way() + ": " +
               calls();
      case Limit::memory:
        return "memory; " + stage(of_.bottleneck.stage) + " waits for room " + percent(of_.bottleneck.use) +
               " of the time, " + bytes(of_.memory_used) + " of " + memory_limit() + " are in use";
      case Limit::window:
        return "the order of " + stage(of_.bottleneck.stage) + "; its slowest call holds up the others " +
               percent(of_.bottleneck.use) + " of the time: " + count(it().window) + " elements may be under way";
      case Limit::buffer: return buffer();
    }
    return "unknown";
  }

  std::string under_way() const {
    if (it().cycle_length > 1 && it().parallelism > it().cycle_length)
      return number(it().in_flight) + " calls are under way, one at a time on each of " + count(it().cycle_length) +
             " datasets";
    if (it().in_flight > static_cast<double>(it().parallelism))
      return number(it().in_flight) + " calls are under way, " + count(it().parallelism) + " allowed by now";
    return number(it().in_flight) + " of " + count(it().parallelism) +
           (it().parallelism == 1 ? " call is under way" : " calls are under way");
  }

  std::string cores() const {
    std::string text = number(of_.cpu_used) + " of " + number(of_.cpu_budget) + " are used by the pipeline";
    const Explanation::Stage* most = nullptr;
    for (const auto& each : of_.stages) {
      if (most == nullptr || each.rate * each.cpu > most->rate * most->cpu || std::isnan(most->cpu)) most = &each;
    }
    if (most == nullptr || !std::isfinite(most->cpu)) return text;
    return text + ", " + number(most->rate * most->cpu) + " of them by " + most->name + " (op " +
           count(most->position) + ")";
  }

  std::string buffer() const {
    if (of_.bottleneck.stage >= 0)
      return "the room in front of " + stage(of_.bottleneck.stage) + "; " + count(it().buffer) +
             " elements may wait there, now too many, now none";
    return "what may wait ready for the consumer, " + count(of_.prefetch) +
           " elements; it is full at times and empty at others: it takes many at once";
  }

  std::string hold() const {
    switch (of_.bottleneck.hold) {
      case Hold::unknown: return "unknown";
      case Hold::nothing: return "a faster pipeline would not be noticed";
      case Hold::user_limit: return of_.serial ? why_serial() : "the number is fixed or bounded by the program";
      case Hold::open_io: return "RunOptions::open_io allows no more calls at once that wait";
      case Hold::cores: return "there are " + number(of_.cpu_budget) + " cores for this process";
      case Hold::other_processes:
        return "other processes use the " + number(of_.cpu_budget) +
               " cores as well: calls are ready to run and have none " + percent(of_.queued) + " of the time";
      case Hold::memory: return "RunOptions::memory_bytes allows " + memory_limit();
      case Hold::device: return "more calls at once were tried, and brought no more";
      case Hold::one_at_a_time: return "this op needs its elements one after the other";
      case Hold::not_tuned: return "RunOptions::tune is off, so nothing is moved";
      case Hold::settling: return "nothing is in the way: the numbers are still being raised";
      case Hold::knob_limit:
        return "it is as wide as it may be: make the slowest calls shorter, or let results leave as they come "
               "(Order::arbitrary)";
    }
    return "unknown";
  }

  std::string limit(Limit limit, int index, double has) const {
    const std::string many = std::isfinite(has) ? number(has) : "";
    switch (limit) {
      case Limit::cpu: return many.empty() ? "the cores" : many + " cores";
      case Limit::serial: return stage(index) + ", one at a time";
      case Limit::parallel: return stage(index) + (many.empty() ? "" : ", " + many + " at once");
      case Limit::ceiling: return "what " + stage(index) + " waits for";
      case Limit::memory: return "memory";
      case Limit::window: return "the order of " + stage(index);
      case Limit::buffer: return index < 0 ? "what waits for the consumer" : "the room in front of " + stage(index);
      case Limit::consumer: return "the consumer";
      case Limit::unknown: break;
    }
    return "unknown";
  }

  // Number of samples in brackets.
  std::string bounds() const {
    std::string text;
    for (const auto& each : of_.bounds) {
      text += (text.empty() ? "" : " | ") + limit(each.limit, each.stage, each.has) + " -> " + rate(each.rate);
      if (std::isfinite(each.rate)) text += " (" + count(each.samples) + ")";
    }
    return text;
  }

  std::string change(const Explanation::WhatIf& what) const {
    switch (what.change) {
      case Change::core: return "one more core";
      case Change::call: return "one more call at once at " + stage(what.stage);
      case Change::calls: return number(what.amount) + " calls at once at " + stage(what.stage);
      case Change::twice_as_fast: return stage(what.stage) + " twice as fast";
      case Change::lifted: return lifted();
    }
    return "";
  }

  std::string lifted() const {
    if (of_.bottleneck.limit == Limit::consumer) return "a faster consumer";
    return of_.bottleneck.hold == Hold::other_processes ? "without the other processes" : "without this limit";
  }

  std::string what_if(const Explanation::WhatIf& what) const {
    std::string text = "  " + change(what) + ": ";
    if (!std::isfinite(what.gain)) return text + "unknown";
    if (what.gain >= kNothing)
      return text + "+" + percent(what.gain) + ", then the limit is " +
             limit(what.next, what.next_stage, Explanation::kUnknown);
    text += "nothing now";
    return what.gain_later >= kNothing ? text + "; +" + percent(what.gain_later) + " once the bottleneck is gone"
                                       : text;
  }

  std::string resources() const {
    std::string text = "in use: " + number(of_.cpu_used) + " of " + number(of_.cpu_budget) + " cores";
    const bool is_much = of_.cpu_used - of_.cpu_in_calls > std::max(kMuchBetween, kPartBetween * of_.cpu_used);
    if (is_much) text += ", " + number(of_.cpu_used - of_.cpu_in_calls) + " of them between calls";
    if (std::isfinite(of_.cpu_consumer)) text += " (the consumer: " + number(of_.cpu_consumer) + ")";
    text += "; memory: " + bytes(of_.memory_used) + " of " + memory_limit() + holders();
    return text + ", at most " + bytes(static_cast<double>(of_.memory_peak));
  }

  std::string memory_limit() const {
    return of_.memory_limit > std::int64_t{1} << 60 ? "as much as there is"
                                                    : bytes(static_cast<double>(of_.memory_limit));
  }

  // Who holds most of it now.
  std::string holders() const {
    std::vector<std::pair<double, std::string>> held = {{of_.in_results, "results"}};
    for (const auto& each : of_.stages) held.emplace_back(static_cast<double>(each.bytes_held), each.name);
    std::ranges::stable_sort(held, std::greater<>(), [](const auto& each) { return each.first; });
    std::string text;
    for (std::size_t i = 0; i < held.size() && i < 2 && held[i].first > 0; ++i)
      text += (i == 0 ? ": " : ", ") + held[i].second + " " + bytes(held[i].first);
    return text;
  }

  void changes() {
    const auto& all = of_.decisions;
    const std::size_t shown = std::min(all.size(), kChanges);
    for (std::size_t i = all.size() - shown; i < all.size(); ++i)
      line((i + shown == all.size() ? "changes: " : "         ") + moved(all[i]));
  }

  std::string moved(const Decision& decision) const {
    std::string text = "at " + duration(1e-9 * static_cast<double>(decision.time_ns)) + " ";
    if (decision.stage >= 0) text += stage(decision.stage) + " ";
    text += decision.knob + " " + count(decision.from) + " -> " + count(decision.to);
    if (decision.wanted != decision.to) text += ", wanted " + count(decision.wanted);
    return text + " (" + name_of(decision.reason) + ")";
  }

  std::string problem(const Explanation::Warning& warning) const {
    switch (warning.problem) {
      case Problem::foreign_threads: return foreign_threads(warning);
      case Problem::buffer_cannot_help:
        return "the consumer wants more than the pipeline can give; a larger prefetch does not help";
      case Problem::memory_too_small:
        return "the ops must hold " + bytes(warning.amount) + " at once, but RunOptions::memory_bytes allows " +
               memory_limit() + ": nothing is read ahead";
      case Problem::consumer_delayed:
        return "the consumer's own thread waits for a core " + percent(warning.amount) + " of the time";
      case Problem::copies: return copies(warning);
      case Problem::unseen_memory: return unseen_memory(warning);
      case Problem::outlier:
        return stage(warning.stage) + " waits for memory: a result was much larger than the others, so " +
               bytes(warning.amount) +
               " are reserved for each. That is forgotten within some hundred calls; a bytes_hint avoids it";
      case Problem::other_processes:
        return "calls are ready to run and have no core " + percent(warning.amount) +
               " of the time: other processes use them";
    }
    return "";
  }

  std::string unseen_memory(const Explanation::Warning& warning) const {
    return "the memory budget does not hold for what " + stage(warning.stage) +
           " gives: nobody can tell what memory elements of type " +
           of_.stages[static_cast<std::size_t>(warning.stage)].unseen_type +
           " own. Say their members (ps::Fields), write a bytes_of, or give a bytes_hint";
  }

  std::string copies(const Explanation::Warning& warning) const {
    return "batches copy " + bytes(warning.amount) + "/s: what " + stage(warning.stage) +
           " hands on does not lie in them. Let the op that makes the tensors stand right before batch, and write them "
           "through Context::outputs()";
  }

  std::string foreign_threads(const Explanation::Warning& warning) const {
    std::string text = number(warning.amount) + " cores are used by threads that are not penstock's";
    if (warning.stage < 0) return text;
    const std::string how = warning.samples > 0 ? ", in step with " : ", perhaps started by ";
    return text + how + stage(warning.stage) + ": does its function start threads of its own?";
  }

  void rewrites() {
    std::string text;
    for (const std::string& each : of_.rewrites) text += (text.empty() ? "rewrites: " : "; ") + each;
    if (!text.empty()) line(text);
  }

  // Of those that are busiest.
  void nests() {
    std::vector<int> nests;
    for (std::size_t i = 0; i < of_.stages.size(); ++i)
      if (of_.stages[i].cycle_length > 0) nests.push_back(static_cast<int>(i));
    const auto in_flight = [this](int i) { return of_.stages[static_cast<std::size_t>(i)].in_flight; };
    std::ranges::stable_sort(nests, std::greater<>(), in_flight);
    for (std::size_t i = 0; i < std::min(nests.size(), kNests); ++i) line(nest(nests[i]));
  }

  std::string nest(int index) const {
    const Explanation::Stage& of = of_.stages[static_cast<std::size_t>(index)];
    return stage(index) + ": " + count(of.cycle_length) + " datasets give in turn, " + count(of.datasets_open) +
           " are open, " + count(of.datasets_opened) + " were opened so far; opening takes " + percent(of.opening) +
           " of its calls' time, reading the rest";
  }

  // As many rows as there is room for: those with most calls under way, in the order of the chain.
  void table() {
    if (of_.stages.empty() || lines_ + 2 > kLines) return;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < of_.stages.size(); ++i) rows.push_back(i);
    std::ranges::stable_sort(rows, std::greater<>(), [&](std::size_t i) { return of_.stages[i].in_flight; });
    rows.resize(std::min(rows.size(), kLines - 1 - lines_));
    std::ranges::sort(rows);
    line(print("%-3s %-28s %9s %9s %9s %16s %9s %9s %8s %8s %7s %6s", "op", "stage", "at once", "under way", "per s",
               "a call", "on a core", "waiting", "no input", "no room", "blame", "errors"));
    for (const std::size_t i : rows) row(of_.stages[i]);
  }

  void row(const Explanation::Stage& stage) {
    const std::string error = std::isfinite(stage.call.error) ? "+-" + duration(stage.call.error) : "";
    const std::string call = std::isfinite(stage.call.value) ? duration(stage.call.value) + error : "-";
    const auto known = [](double value) { return std::isfinite(value) ? duration(value) : std::string("-"); };
    line(print("%-3d %-28.28s %9s %9.2f %9s %16s %9s %9s %8s %8s %7s %6lld", stage.position, stage.name.c_str(),
               stage.parallel && !of_.serial ? count(stage.parallelism).c_str() : "in turn", stage.in_flight,
               number(stage.rate).c_str(), call.c_str(), known(stage.cpu).c_str(), known(stage.waiting).c_str(),
               percent(stage.starved).c_str(), percent(stage.blocked).c_str(), percent(stage.blame).c_str(),
               static_cast<long long>(stage.errors)));
  }

  const Explanation& of_;
  std::string text_;
  std::size_t lines_ = 0;
};

}  // namespace

std::string to_text(const Explanation& explanation) { return Report(explanation).text(); }

}  // namespace penstock
