#include "bench/imagenet/explain.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "lib/core/text.h"

namespace penstock::bench {
namespace {

constexpr double kBusy = 0.9;     // of what there is
constexpr double kServed = 0.05;  // a consumer that waits less than this share of the time has what it needs

template <class... Values>
std::string print(const char* format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string print_bytes(std::int64_t bytes) { return format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0))); }

std::string print_time(std::int64_t ns) { return format_duration(std::chrono::nanoseconds(ns)); }

// The numerator's share of the whole, "-" of nothing.
std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "-";
  return print("%.0f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string each(std::int64_t sum, std::int64_t count, std::string (*text)(std::int64_t)) {
  return count > 0 ? text(sum / count) : "-";
}

const char* place(const StageSnapshot& stage) {
  if (stage.completes_later) return "later";
  return stage.on_pool ? "pool" : "cores";
}

// Calls in flight, on average.
double busy(const StageSnapshot& stage, std::int64_t time_ns) {
  return time_ns > 0 ? static_cast<double>(stage.slot_ns) / static_cast<double>(time_ns) : 0;
}

std::string table_row(const StageSnapshot& stage, std::int64_t time_ns) {
  return print("%2d %-28.28s %-5s %7s %6.2f %9lld %9lld %6lld %9s %9s %7s %7s %9s\n", stage.position, stage.name.c_str(), place(stage),
               stage.parallel ? std::to_string(stage.parallelism).c_str() : "in turn", busy(stage, time_ns),
               static_cast<long long>(stage.elements_in), static_cast<long long>(stage.elements_out),
               static_cast<long long>(stage.errors + stage.dropped), each(stage.slot_ns, stage.completed, print_time).c_str(),
               percent(stage.sampled_cpu_ns, stage.sampled_wall_ns).c_str(), percent(stage.starved_ns, time_ns).c_str(),
               percent(stage.blocked_ns, time_ns).c_str(), each(stage.bytes_out, stage.elements_out, print_bytes).c_str());
}

std::string consumer_line(const ConsumerSnapshot& consumer, std::int64_t time_ns) {
  return "consumer: waited " + percent(consumer.wait_ns, time_ns) + " of " + print_time(time_ns) + " for " +
         std::to_string(consumer.taken) + " batches; prefetch " +
         std::to_string(consumer.prefetch) + "\n";
}

std::string memory_line(const Snapshot& snapshot) {
  return "memory:   at most " + print_bytes(snapshot.memory_peak) + " of " + print_bytes(snapshot.memory_limit) + " held; " +
         print_bytes(snapshot.overshoot_bytes) + " taken beyond what was reserved\n";
}

// Of the stages that `counts` is true of, the one with most calls in flight.
template <class Counts>
const StageSnapshot* busiest(const Snapshot& snapshot, Counts counts) {
  const StageSnapshot* most = nullptr;
  for (const StageSnapshot& stage : snapshot.stages)
    if (counts(stage) && (most == nullptr || stage.slot_ns > most->slot_ns)) most = &stage;
  return most;
}

double busy_cores(const Snapshot& snapshot) {
  double sum = 0;
  for (const StageSnapshot& stage : snapshot.stages)
    if (!stage.on_pool && !stage.completes_later) sum += busy(stage, snapshot.time_ns);
  return sum;
}

std::string cores_text(const Snapshot& snapshot) {
  const auto* most = busiest(snapshot, [](const StageSnapshot& s) { return !s.on_pool && !s.completes_later; });
  return print("%.2f of %.3g CPU slots were in use, %.2f of them by ", busy_cores(snapshot), snapshot.cpu_budget,
               busy(*most, snapshot.time_ns)) +
         most->name;
}

std::string verdict(const Snapshot& snapshot) {
  if (snapshot.stages.empty() || snapshot.time_ns <= 0) return "nothing was measured";
  if (static_cast<double>(snapshot.consumer.wait_ns) < kServed * static_cast<double>(snapshot.time_ns))
    return "the consumer: it hardly waited";
  const std::string cores = cores_text(snapshot);
  if (busy_cores(snapshot) >= kBusy * snapshot.cpu_budget) return "the cores: " + cores;
  const auto full = [&](const StageSnapshot& stage) {
    const double limit = static_cast<double>(stage.parallel ? stage.parallelism : 1);
    return busy(stage, snapshot.time_ns) >= kBusy * limit;
  };
  if (const auto* stage = busiest(snapshot, full)) return stage->name + ": its calls were always under way; " + cores;
  return "no stage all the time; " + cores;
}

}  // namespace

std::string explain(const Snapshot& snapshot) {
  std::string text = print("%2s %-28s %-5s %7s %6s %9s %9s %6s %9s %9s %7s %7s %9s\n", "op", "stage", "runs", "at once", "busy", "in", "out",
                           "errors", "time each", "on a CPU", "starved", "blocked", "size each");
  for (const StageSnapshot& stage : snapshot.stages) text += table_row(stage, snapshot.time_ns);
  return text + consumer_line(snapshot.consumer, snapshot.time_ns) + memory_line(snapshot) + "busy:     " + verdict(snapshot) + "\n";
}

}  // namespace penstock::bench
