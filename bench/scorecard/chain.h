// Chain: one run: stages, outlet, consumer, memory, and the knobs and snapshots by which a policy steers it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <penstock/explanation.h>
#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/history.h"
#include "autotune/policy.h"
#include "bench/scorecard/consumer.h"
#include "bench/scorecard/device.h"
#include "bench/scorecard/outlet.h"
#include "bench/scorecard/run_record.h"
#include "bench/scorecard/slots.h"
#include "bench/scorecard/stage.h"

namespace penstock::scorecard {

class Plant;

class Chain {
 public:
  Chain(Plant& plant, const ChainSpec& spec, std::uint64_t seed);
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // Set before the plant runs; null: nothing moves.
  void steer(std::unique_ptr<autotune::Policy> policy) { policy_ = std::move(policy); }
  const autotune::Policy* policy() const noexcept { return policy_.get(); }
  // What explain() says, for runs that are asked to remember what it needs.
  void remember() { history_.emplace(); }
  Explanation explain();
  std::vector<Knob>& knobs() noexcept { return knobs_; }
  Knob& knob(const std::string& name, int stage = -1);  // one that exists
  const Snapshot& snapshot();
  void record();             // what has come to pass since it was called last
  void look();               // as the controller's thread does
  bool is_calm() const;      // it need not look as often

  void start();
  void settle();             // until nothing more can go on
  void step_all_touched();   // the same, but memory that has become free is not offered yet
  void touch(int stage) { touched_ |= std::uint64_t{1} << stage; }

  // What its parts ask.
  Plant& plant() noexcept { return plant_; }
  Time now() const noexcept;
  Device& device(int index) { return *devices_[static_cast<std::size_t>(index)]; }
  MemoryBudget& memory() noexcept { return memory_; }
  Outlet& outlet() noexcept { return outlet_; }
  SlotGate::Run& at_arena() noexcept { return at_arena_; }
  SlotGate::Run& at_pool() noexcept { return at_pool_; }
  bool has_free_cpu_slot() const;
  std::int64_t rank(int stage) const;
  bool is_empty_behind(const Stage& stage) const;
  void deliver(const Lot& lot);
  std::int64_t take(std::int64_t most);  // for the consumer
  void count_call(int more, bool on_pool);

  bool gives_way() const noexcept { return gives_way_; }
  const Consumer& consumer() const noexcept { return consumer_; }
  const std::vector<std::unique_ptr<Stage>>& stages() const noexcept { return stages_; }
  const std::vector<Sample>& samples() const noexcept { return samples_; }
  std::int64_t open_io() const noexcept { return open_io_; }
  std::int64_t memory_bound() const;     // what it may never pass: the limit and one element of each stage

 private:
  void make_stages(const ChainSpec& spec, std::uint64_t seed);
  void make_knobs();
  void offer_memory();
  bool more_comes_soon() const;
  void keep_promise();

  Plant& plant_;
  MemoryBudget memory_;
  std::int64_t open_io_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Stage>> stages_;
  Outlet outlet_;
  Consumer consumer_;
  SlotGate::Run at_arena_, at_pool_;
  std::uint64_t touched_ = 0;
  bool gives_way_ = false;  // knob priority
  bool owes_wake_ = false;  // the consumer sleeps on while more is about to come
  std::vector<Knob> knobs_;
  std::unique_ptr<autotune::Policy> policy_;
  std::optional<autotune::History> history_;
  Snapshot snapshot_;
  std::int64_t consumer_cpu_ = -1, consumer_delay_ = -1;  // when the process' clocks were read last
  std::int64_t calls_ = 0, pool_calls_ = 0, most_calls_ = 0, most_pool_calls_ = 0;
  std::int64_t changes_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace penstock::scorecard
