// What the engine's tests share: reading a run to its end as text, and waiting for what must come.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace penstock::testing {

using Texts = std::vector<std::string>;
using IntegerRun = Run<std::int64_t>;  // inside a test, Run is a member of ::testing::Test
using SharedRun = std::shared_ptr<IntegerRun>;
using namespace std::chrono_literals;

// Long enough for any machine: a test that gets here has failed, never one that is merely slow.
inline constexpr auto kPatience = 60s;
inline constexpr std::int64_t kSecond = 1'000'000'000;  // ns

// Waits until condition() holds; false if it never does.
template <class Condition> bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// range(), but an input of its own: several ranges as they are become one stage over positions.
inline Dataset<std::int64_t> branch(std::int64_t end) { return range(end).prefetch(); }
inline Dataset<std::int64_t> branch(std::int64_t begin, std::int64_t end) { return range(begin, end).prefetch(); }

// What an element looks like.
inline std::string text_of(std::int64_t value) { return std::to_string(value); }
inline std::string text_of(const std::string& value) { return value; }
template <class T> std::string text_of(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? " " : "") + text_of(value);
  return text + "]";
}

// An error as "x3": what failed was element 3 of the source.
inline std::string text_of(const ElementError& error) { return "x" + std::to_string(error.place().source_ordinal); }

// The next element or error; "end" at the end.
template <class T> std::string next_text(Run<T>& run) {
  try {
    auto value = run.next();
    return value ? text_of(*value) : "end";
  } catch (const ElementError& error) {
    return text_of(error);
  }
}

// What is left of the run's epoch.
template <class T> Texts rest_of(Run<T>& run) {
  Texts texts;
  for (std::string text; (text = next_text(run)) != "end";) texts.push_back(text);
  return texts;
}

template <class T> Texts read(const Dataset<T>& dataset, const RunOptions& options = {}) {
  auto run = dataset.start(options);
  return rest_of(run);
}

inline Texts numbers(std::int64_t start, std::int64_t stop) {
  Texts texts;
  for (std::int64_t i = start; i < stop; ++i) texts.push_back(std::to_string(i));
  return texts;
}

// A function that fails for one value and passes the others on.
inline auto failing_at(std::int64_t bad) {
  return [bad](std::int64_t value) {
    if (value == bad) throw std::runtime_error("planted at " + std::to_string(bad));
    return value;
  };
}

inline std::int64_t plus_one(std::int64_t value) { return value + 1; }

// A knob of a run by name and stage; stage -1: of the sink or the whole run.
template <class T> Knob knob_of(Run<T>& run, const std::string& name, int stage) {
  for (Knob& knob : run.knobs()) {
    if (knob.name == name && knob.stage == stage) return std::move(knob);
  }
  throw std::out_of_range("no knob '" + name + "' of stage " + std::to_string(stage));
}

// Counts calls, and how many run at once.
class CallCounter {
 public:
  void enter() {
    const std::int64_t now = ++running_;
    ++calls_;
    std::int64_t most = most_.load();
    while (most < now && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { --running_; }

  std::int64_t calls() const { return calls_; }
  std::int64_t running() const { return running_; }
  std::int64_t most() const { return most_; }
  void forget_most() { most_ = 0; }

 private:
  std::atomic<std::int64_t> running_{0}, calls_{0}, most_{0};
};

// The identity, slowly, counted.
inline auto counted_sleep(CallCounter& counter, std::chrono::microseconds time) {
  return [&counter, time](std::int64_t value) {
    counter.enter();
    std::this_thread::sleep_for(time);
    counter.leave();
    return value;
  };
}

}  // namespace penstock::testing
