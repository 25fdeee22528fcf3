// The ops of the memory stress: they make payloads of known sizes, foretell them or not, and write
// down what they made.
#pragma once

#include <penstock/penstock.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/memory/payload.h"

namespace memory_stress {

namespace ps = penstock;

// The sizes of everything that a stage's calls gave.
class Sizes {
 public:
  void add(std::int64_t bytes) {
    std::lock_guard lock(mutex_);
    bytes_.push_back(bytes);
  }
  // The sum of the `count` largest: what so many elements hold at worst.
  std::int64_t largest(std::size_t count) const {
    std::lock_guard lock(mutex_);
    std::vector<std::int64_t> sorted = bytes_;
    std::sort(sorted.rbegin(), sorted.rend());
    sorted.resize(std::min(count, sorted.size()));
    return std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::int64_t> bytes_;
};

struct Behaviour {
  bool hinted = true;
  bool blocks = false;
  std::int64_t parallelism = 2;
  bool automatic = false;             // up to `parallelism`, as the controller likes
  std::chrono::microseconds time{0};  // that a call sleeps, with its result in hand
  std::uint64_t salt = 0;
};

// How a stage makes its results of one input.
struct Recipe {
  std::function<std::int64_t(const ps::Element&)> number;               // of the input
  std::function<std::int64_t(const ps::Element&)> bytes;                // that all results hold
  std::function<ps::Element(const ps::Element&, std::int64_t)> result;  // with so many bytes
  bool many = false;                                                    // result is a vector<Element>
};

class StressOp final : public ps::ElementwiseOp {
 public:
  StressOp(std::string name, Behaviour behaviour, Recipe recipe, Sizes& sizes)
      : name_(std::move(name)), behaviour_(behaviour), recipe_(std::move(recipe)), sizes_(sizes) {}

  std::string name() const override { return name_; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }
  ps::Form form() const override { return behaviour_.blocks ? ps::Form::blocks : ps::Form::computes; }
  ps::Tunable parallelism() const override {
    return behaviour_.automatic ? ps::Tunable::between(1, behaviour_.parallelism) : behaviour_.parallelism;
  }

  std::optional<std::size_t> bytes_hint(const ps::Element& input) const override {
    if (!behaviour_.hinted) return std::nullopt;
    return static_cast<std::size_t>(recipe_.bytes(input));
  }

  void run(std::span<ps::Slot> slots, ps::Context& context) const override {
    for (ps::Slot& slot : slots) {
      context.enter(slot);
      answer(slot);
    }
  }

 private:
  // The input lives until the result is complete, as where pixels are made of pixels.
  void answer(ps::Slot& slot) const {
    const ps::Element input = std::move(slot.value);
    const std::int64_t bytes = recipe_.bytes(input);
    ps::Element result = recipe_.result(input, bytes);
    sizes_.add(bytes);
    if (behaviour_.time.count() > 0) std::this_thread::sleep_for(behaviour_.time);
    if (recipe_.many) {
      slot.emit_many(result.take<std::vector<ps::Element>>());
    } else {
      slot.emit(std::move(result));
    }
  }

  std::string name_;
  Behaviour behaviour_;
  Recipe recipe_;
  Sizes& sizes_;
};

}  // namespace memory_stress
