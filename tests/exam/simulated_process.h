// SimulatedProcess: what the runs of a process share, in virtual time: CPU permits, threads, the controller's thread;
// and the runs themselves, with the consumers that take from them.
//
//   SimulatedProcess process(spec, 1);
//   process.run(0).steer(autotune::make_policy("penstock"));
//   process.run_until(40 * kSecond);
//   process.run(0).record();
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/exec/permit_gate.h"
#include "lib/runtime/attendant.h"
#include "tests/exam/host.h"
#include "tests/exam/launcher.h"
#include "tests/exam/simulated_run.h"
#include "tests/exam/spec.h"

namespace penstock::exam {

class SimulatedProcess final : private runtime::AttendantHost {
 public:
  SimulatedProcess(const ProcessSpec& spec, std::uint64_t seed);
  ~SimulatedProcess() override;  // ends the runs, which takes them a while of their time
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;

  void run_until(Time end);
  SimulatedRun& run(std::size_t index) { return *runs_[index]; }
  std::size_t runs() const noexcept { return runs_.size(); }
  Time now() const override { return host_.now(); }
  double cpu_ns() const;  // of the process so far, without the consumers

 private:
  struct Tick;
  void start();
  void control();
  void read_clocks();
  std::int64_t cpu_of_workers() const override;
  void tell(const std::string&) override {}  // nobody reads it
  void tell_of_type(const std::string&, const std::string&) override {}

  Host host_;
  exec::PermitGate gate_;
  Workers compute_, pool_;
  std::vector<std::unique_ptr<SimulatedRun>> runs_;
  runtime::Attendants attendants_;
  exec::Surroundings clocks_;
  double cpus_;  // as the process has last looked them up
  std::unique_ptr<Tick> tick_;
  bool has_started_ = false, is_over_ = false;
};

}  // namespace penstock::exam
