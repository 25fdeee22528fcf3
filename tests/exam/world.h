// World: where the functions of a scenario's pipeline compute and wait: on this machine (real/real_world.h), or in
// virtual time (simulated_world.h).
#pragma once

#include <penstock/tensor.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/exam/spec.h"

namespace penstock::exam {

// An element of such a pipeline. Its memory is taken, where the world has memory, and not written to: moving bytes is
// not what scenarios are about.
struct Item {
  Item() = default;
  Item(std::int64_t number, double factor, std::int64_t held, Tensor memory)
      : index(number), size(factor), bytes(held), payload(std::move(memory)) {}
  // Both, as a zip gives them: as the first one to whoever works on it.
  Item(Item first, Item second)
      : index(first.index),
        size(first.size),
        bytes(first.bytes + second.bytes),
        payload(std::move(first.payload)),
        zipped(std::move(second.payload)) {}

  std::int64_t index = 0;  // in the source
  double size = 1;         // factor on the bytes
  std::int64_t bytes = 0;
  Tensor payload, zipped;

  friend std::size_t bytes_of(const Item& item) { return static_cast<std::size_t>(item.bytes); }
};

// What one call does. Times in nanoseconds, before the world's factors over time.
struct Draw {
  double size = 1;
  std::int64_t bytes = 0;  // of each result
  std::int64_t results = 1;
  double blocked_ns = 0, cpu_ns = 0;
  std::vector<double> own_ns;  // of each thread that the function starts
};
// The same for the same element in the same stage and seed, whoever asks and when: all runs of a scenario do the same
// work.
Draw draw(const StageSpec& spec, int stage, const Item& item, std::uint64_t seed);
// Draw::bytes * Draw::results alone.
std::int64_t draw_bytes(const StageSpec& spec, int stage, const Item& item, std::uint64_t seed);

// How many calls are under way. Any thread.
class InFlight {
 public:
  void enter() {
    const std::int64_t now = ++now_;
    for (std::int64_t seen = most_; seen < now && !most_.compare_exchange_weak(seen, now);) {
    }
  }
  void leave() { --now_; }
  // The most since it was asked last.
  std::int64_t take_most() { return most_.exchange(now_); }

 private:
  std::atomic<std::int64_t> now_{0}, most_{0};
};

// What the calls of one run share. Any thread.
class World {
 public:
  World(const ChainSpec& spec, std::uint64_t seed) : seed_(seed), largest_(spec.stages.size() + 1) {}
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // By the thread of a call. Times in nanoseconds.
  virtual Time now() const = 0;  // since the run's first request
  virtual void compute(double ns) = 0;
  virtual void sleep(double ns) = 0;
  virtual void use_device(int device, double ns, double share) = 0;    // `share`: the same, of the average call
  virtual void compute_on_threads(const std::vector<double>& ns) = 0;  // of the function's own, and waits for them
  virtual Tensor allocate(std::int64_t bytes) = 0;
  virtual double cost_of_element() const { return 0; }  // of the engine, where none is real

  std::uint64_t seed() const noexcept { return seed_; }
  void made(int stage, std::int64_t bytes);        // of all results of one element
  std::int64_t one_element_of_each_stage() const;  // bytes of the largest ones so far

  InFlight calls, waiting_calls;  // of all stages that are not serial; of those that wait

 private:
  const std::uint64_t seed_;
  std::vector<std::atomic<std::int64_t>> largest_;
};

// For the length of one call.
class CallScope {
 public:
  CallScope(World& world, const StageSpec& spec);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  World& world_;
  const bool counts_, waits_;
};

}  // namespace penstock::exam
