// Snapshots made by hand: one second of a pipeline whose numbers are all known.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <penstock/service_times.h>

#include "autotune/explain.h"

namespace penstock::autotune {

inline constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000 * kMs;

// A second in which `count` elements went through the stage; every call took `call_ns`, `cpu_ns` of it on a core, and
// all were sampled.
inline StageSnapshot worked(std::string name, std::int64_t count, std::int64_t call_ns, std::int64_t cpu_ns) {
  StageSnapshot stage;
  stage.name = std::move(name);
  stage.parallel = true;
  stage.elements_in = stage.elements_out = stage.made = stage.completed = stage.calls = count;
  stage.slot_ns = count * call_ns;
  stage.samples = stage.sampled_elements = count;
  stage.sampled_wall_ns = count * call_ns;
  stage.sampled_cpu_ns = count * cpu_ns;
  stage.service_times[service_time_bucket(call_ns)] = count;
  return stage;
}

inline StageSnapshot with_calls(StageSnapshot stage, std::int64_t parallelism) {
  stage.parallelism = parallelism;
  return stage;
}

inline StageSnapshot on_pool(StageSnapshot stage, std::int64_t parallelism) {
  stage.on_pool = stage.form_is_known = true;
  return with_calls(std::move(stage), parallelism);
}

inline StageSnapshot in_turn(StageSnapshot stage) {
  stage.parallel = false;
  return stage;
}

// Of each call, so long it was ready and had no core.
inline StageSnapshot delayed(StageSnapshot stage, std::int64_t delay_ns) {
  stage.sampled_delay_ns = stage.completed * delay_ns;
  return stage;
}

// What all clocks say at the end of the second; they began at 0.
inline Snapshot with_clocks(Snapshot now, std::int64_t process_ns, std::int64_t workers_ns, std::int64_t consumer_ns) {
  now.process_cpu_ns = process_ns;
  now.workers_cpu_ns = workers_ns;
  now.consumer_cpu_ns = now.consumer.cpu_ns = consumer_ns;
  now.clocks_ns = now.time_ns;
  return now;
}

// The stages are a chain.
inline Snapshot second_of(std::vector<StageSnapshot> stages, std::int64_t taken, double wait_share) {
  Snapshot now;
  now.time_ns = kSecond;
  now.cpu_budget = 2;
  now.memory_limit = 1 << 30;
  now.stages = std::move(stages);
  for (std::size_t i = 0; i + 1 < now.stages.size(); ++i) now.stages[i].feeds = static_cast<int>(i) + 1;
  for (std::size_t i = 0; i < now.stages.size(); ++i) now.stages[i].position = static_cast<int>(i);
  now.consumer.taken = taken;
  now.consumer.wait_ns = static_cast<std::int64_t>(wait_share * static_cast<double>(kSecond));
  return now;
}

// Two reads of 10 ms at once, and a decoder with time to spare: 197 a second.
inline Snapshot slow_reads() {
  return second_of(
      {on_pool(worked("read", 197, 10 * kMs, kMs / 20), 2), with_calls(worked("decode", 197, kMs, kMs), 2)}, 197, 0.92);
}

inline Knob calls_knob(int stage, std::int64_t high, bool user_fixed) {
  Knob knob;
  knob.kind = KnobKind::parallelism;
  knob.stage = stage;
  knob.high = high;
  knob.user_fixed = user_fixed;
  return knob;
}

inline Facts facts_of(Snapshot now) {
  Facts facts;
  facts.window.now = std::move(now);
  return facts;
}

inline Facts facts_with_clocks(Snapshot now) {
  Facts facts = facts_of(std::move(now));
  Snapshot& before = facts.window.before;
  before.process_cpu_ns = before.workers_cpu_ns = before.consumer_cpu_ns = before.clocks_ns = 0;
  return facts;
}

// In `seen` of 100 looks.
inline Looks hundred_looks(const Snapshot& now, std::size_t stage, std::int64_t StageLooks::*state, std::int64_t seen) {
  Looks looks;
  for (int i = 0; i < 100; ++i) looks.add(now);
  looks.stages.at(stage).*state = seen;
  return looks;
}

}  // namespace penstock::autotune
