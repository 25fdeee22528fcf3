// SimulatedRun: one run in virtual time: the engine as it is shipped, its functions' world, its consumer, and what is
// seen of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/explanation.h>
#include <penstock/knob.h>

#include "autotune/policy.h"
#include "lib/exec/engine.h"
#include "lib/runtime/attendant.h"
#include "tests/exam/host.h"
#include "tests/exam/launcher.h"
#include "tests/exam/run_record.h"
#include "tests/exam/spec.h"
#include "tests/exam/world.h"

namespace penstock::exam {

class SimulatedRun {
 public:
  // Of the process that they all share.
  struct Shared {
    Host& host;
    exec::PermitGate& gate;
    Workers& compute;
    Workers& pool;
  };
  SimulatedRun(const Shared& shared, const ChainSpec& spec, std::uint64_t seed);
  ~SimulatedRun();
  SimulatedRun(const SimulatedRun&) = delete;
  SimulatedRun& operator=(const SimulatedRun&) = delete;

  // Before it begins; null: nothing moves.
  void steer(std::unique_ptr<autotune::Policy> policy) {
    policy_ = std::move(policy);
    seen_policy_ = policy_.get();
  }
  const autotune::Policy* policy() const noexcept { return seen_policy_; }
  std::vector<Knob>& knobs() noexcept { return knobs_; }
  Knob& knob(const std::string& name, int stage = -1);  // one that exists
  Snapshot snapshot() const { return engine_->snapshot(); }
  Explanation explain() const { return observer_->explain(observer_->recent(snapshot())); }

  RunRecord record() const;
  const std::vector<Sample>& samples() const noexcept { return samples_; }
  std::int64_t taken() const noexcept { return taken_; }
  std::int64_t open_io() const noexcept { return spec_.open_io; }

  // By its process.
  runtime::Attendant begin(runtime::AttendantHost& host);
  void look(double cpu_ns);                   // every 10 ms
  void stop();                                // its consumer, for good
  void shut_down() { engine_->shut_down(); }  // by a thread of the host
  bool has_consumer() const noexcept { return consumes_; }
  std::size_t stages() const noexcept { return engine_->plan().stages.size(); }

 private:
  void consume();
  void measure(const Snapshot& now);

  Host& host_;
  const ChainSpec spec_;
  const std::shared_ptr<World> world_;
  std::shared_ptr<exec::Engine> engine_;
  std::vector<Knob> knobs_;
  std::vector<std::int64_t> values_;          // where they stood
  std::unique_ptr<autotune::Policy> policy_;  // until it begins
  const autotune::Policy* seen_policy_ = nullptr;
  std::shared_ptr<runtime::Observer> observer_;  // from then on
  std::int64_t taken_ = 0, changes_ = 0;
  bool consumes_ = false, is_over_ = false;
  std::vector<Sample> samples_;
  std::vector<ConsumerStep> steps_;
  std::vector<Measured> measured_;
};

}  // namespace penstock::exam
