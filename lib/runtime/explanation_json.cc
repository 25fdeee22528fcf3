// An Explanation as one JSON object.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include <penstock/explanation.h>

#include "lib/core/json.h"

namespace penstock {
namespace {

template <class Value> std::string json_of(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_integral_v<Value>)
    return std::to_string(value);
  else if constexpr (std::is_floating_point_v<Value>) {
    char text[32];
    // whatever the locale
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
    return std::isfinite(value) ? std::string(text, end) : "null";
  } else
    return in_json(value);
}

// {"a":1,"b":[...]}
class Object {
 public:
  template <class Value> Object&& with(const char* key, const Value& value) && {
    return std::move(*this).with_json(key, json_of(value));
  }
  Object&& with_json(const char* key, const std::string& json) && {
    text_ += (text_.empty() ? "{" : ",") + in_json(key) + ":" + json;
    return std::move(*this);
  }
  // The stage's name; null where there is none.
  Object&& with_stage(const char* key, const Explanation& of, int stage) && {
    const bool is_known = stage >= 0 && static_cast<std::size_t>(stage) < of.stages.size();
    return std::move(*this).with_json(key,
                                      is_known ? in_json(of.stages[static_cast<std::size_t>(stage)].name) : "null");
  }
  std::string text() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

template <class Values, class ToJson> std::string array_of(const Values& values, ToJson to_json) {
  std::string text;
  for (const auto& each : values) text += (text.empty() ? "[" : ",") + to_json(each);
  return text.empty() ? "[]" : text + "]";
}

const char* name_of(Explanation::Change change) {
  switch (change) {
    case Explanation::Change::core: return "core";
    case Explanation::Change::call: return "call";
    case Explanation::Change::calls: return "calls";
    case Explanation::Change::twice_as_fast: return "twice_as_fast";
    case Explanation::Change::lifted: return "lifted";
  }
  return "unknown";
}

const char* name_of(Explanation::Problem problem) {
  switch (problem) {
    case Explanation::Problem::foreign_threads: return "foreign_threads";
    case Explanation::Problem::buffer_cannot_help: return "buffer_cannot_help";
    case Explanation::Problem::memory_too_small: return "memory_too_small";
    case Explanation::Problem::consumer_delayed: return "consumer_delayed";
    case Explanation::Problem::copies: return "copies";
    case Explanation::Problem::unseen_memory: return "unseen_memory";
    case Explanation::Problem::outlier: return "outlier";
    case Explanation::Problem::other_processes: return "other_processes";
  }
  return "unknown";
}

std::string json(const Explanation::Measured& measured) {
  return Object().with("value", measured.value).with("error", measured.error).with("samples", measured.samples).text();
}

std::string json(const Explanation& of, const Explanation::Bottleneck& bottleneck) {
  return Object()
      .with("limit", name_of(bottleneck.limit))
      .with_stage("stage", of, bottleneck.stage)
      .with("use", bottleneck.use)
      .with("hold", name_of(bottleneck.hold))
      .text();
}

std::string json(const Explanation& of, const Explanation::Bound& bound) {
  return Object()
      .with("limit", name_of(bound.limit))
      .with_stage("stage", of, bound.stage)
      .with("has", bound.has)
      .with("rate", bound.rate)
      .with("samples", bound.samples)
      .text();
}

std::string json(const Explanation& of, const Explanation::WhatIf& change) {
  return Object()
      .with("change", name_of(change.change))
      .with_stage("stage", of, change.stage)
      .with("amount", change.amount)
      .with("gain", change.gain)
      .with("gain_later", change.gain_later)
      .with("next", name_of(change.next))
      .with_stage("next_stage", of, change.next_stage)
      .text();
}

std::string json(const Explanation::Stage& stage) {
  return Object()
      .with("name", stage.name)
      .with("position", stage.position)
      .with("parallel", stage.parallel)
      .with("on_pool", stage.on_pool)
      .with("completes_later", stage.completes_later)
      .with("parallelism", stage.parallelism)
      .with("window", stage.window)
      .with("buffer", stage.buffer)
      .with("rate", stage.rate)
      .with("per_delivered", stage.per_delivered)
      .with("in_flight", stage.in_flight)
      .with_json("call_s", json(stage.call))
      .with("cpu_s", stage.cpu)
      .with("queued_s", stage.queued)
      .with("waiting_s", stage.waiting)
      .with("clock_samples", stage.clock_samples)
      .with("starved", stage.starved)
      .with("blocked", stage.blocked)
      .with("blame", stage.blame)
      .with("bytes_held", stage.bytes_held)
      .with("unseen_type", stage.unseen_type)
      .with("cycle_length", stage.cycle_length)
      .with("datasets_open", stage.datasets_open)
      .with("datasets_opened", stage.datasets_opened)
      .with("opening", stage.opening)
      .with("elements_in", stage.elements_in)
      .with("elements_out", stage.elements_out)
      .with("errors", stage.errors)
      .with("dropped", stage.dropped)
      .text();
}

std::string json(const Explanation& of, const Decision& decision) {
  return Object()
      .with("time_s", 1e-9 * static_cast<double>(decision.time_ns))
      .with_stage("stage", of, decision.stage)
      .with("knob", decision.knob)
      .with("from", decision.from)
      .with("to", decision.to)
      .with("wanted", decision.wanted)
      .with("reason", name_of(decision.reason))
      .text();
}

std::string json(const Explanation& of, const Explanation::Warning& warning) {
  return Object()
      .with("problem", name_of(warning.problem))
      .with_stage("stage", of, warning.stage)
      .with("amount", warning.amount)
      .with("samples", warning.samples)
      .text();
}

}  // namespace

const char* name_of(Limit limit) noexcept {
  switch (limit) {
    case Limit::unknown: return "unknown";
    case Limit::consumer: return "consumer";
    case Limit::cpu: return "cpu";
    case Limit::serial: return "serial";
    case Limit::parallel: return "parallel";
    case Limit::ceiling: return "ceiling";
    case Limit::memory: return "memory";
    case Limit::window: return "window";
    case Limit::buffer: return "buffer";
  }
  return "unknown";
}

const char* name_of(Hold hold) noexcept {
  switch (hold) {
    case Hold::unknown: return "unknown";
    case Hold::nothing: return "nothing";
    case Hold::user_limit: return "user_limit";
    case Hold::open_io: return "open_io";
    case Hold::cores: return "cores";
    case Hold::other_processes: return "other_processes";
    case Hold::memory: return "memory";
    case Hold::device: return "device";
    case Hold::one_at_a_time: return "one_at_a_time";
    case Hold::not_tuned: return "not_tuned";
    case Hold::settling: return "settling";
    case Hold::knob_limit: return "knob_limit";
  }
  return "unknown";
}

std::string to_json(const Explanation& e) {
  return Object()
      .with("time_s", e.time)
      .with("window_s", e.window)
      .with("serial", e.serial)
      .with("inside_another_run", e.inside_another_run)
      .with_json("delivered", json(e.delivered))
      .with_json("wait_share", json(e.wait_share))
      .with("input_bound", e.input_bound())
      .with("demand", e.demand)
      .with("headroom", e.headroom())
      .with_json("bottleneck", json(e, e.bottleneck))
      .with_json("bounds", array_of(e.bounds, [&](const auto& each) { return json(e, each); }))
      .with_json("what_ifs", array_of(e.what_ifs, [&](const auto& each) { return json(e, each); }))
      .with("cpu_used", e.cpu_used)
      .with("cpu_in_calls", e.cpu_in_calls)
      .with("queued", e.queued)
      .with("cpu_consumer", e.cpu_consumer)
      .with("cpu_budget", e.cpu_budget)
      .with("prefetch", e.prefetch)
      .with("memory_used", e.memory_used)
      .with("memory_limit", e.memory_limit)
      .with("memory_peak", e.memory_peak)
      .with("looks", e.looks)
      .with("in_results", e.in_results)
      .with_json("stages", array_of(e.stages, [](const auto& each) { return json(each); }))
      .with_json("decisions", array_of(e.decisions, [&](const auto& each) { return json(e, each); }))
      .with_json("warnings", array_of(e.warnings, [&](const auto& each) { return json(e, each); }))
      .with("stand_still", e.stand_still)
      .with_json("rewrites", array_of(e.rewrites, [](const std::string& each) { return in_json(each); }))
      .text();
}

}  // namespace penstock
