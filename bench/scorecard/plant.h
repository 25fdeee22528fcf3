// Plant: a host with its runs in virtual time. The same seed gives the same run, on any machine.
//
//   Plant plant(spec, 1);
//   plant.chain(0).steer(autotune::make_policy("penstock"));
//   plant.run_until(40 * kSecond);
//   plant.chain(0).samples();
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/snapshot.h>

#include "bench/scorecard/chain.h"
#include "bench/scorecard/events.h"
#include "bench/scorecard/processor.h"
#include "bench/scorecard/slots.h"
#include "bench/scorecard/spec.h"

namespace penstock::scorecard {

class Plant {
 public:
  Plant(const PlantSpec& spec, std::uint64_t seed);
  Plant(const Plant&) = delete;  // its parts point to it
  Plant& operator=(const Plant&) = delete;

  void run_until(Time end);
  Chain& chain(std::size_t index) { return *chains_[index]; }
  std::size_t chains() const noexcept { return chains_.size(); }
  const Time& now() const noexcept { return now_; }
  bool niceness_is_reversible() const noexcept { return host_.niceness_is_reversible; }

  // What its parts ask.
  EventQueue& events() noexcept { return events_; }
  Processor& processor() noexcept { return processor_; }
  SlotGate& arena() noexcept { return arena_; }
  SlotGate& pool() noexcept { return pool_; }
  void look_at_priorities();                          // workers give way where every run wishes it
  void run_user_thread(double work, Client& client);  // not one of ours
  void user_thread_ended();
  double cpu_of_workers() const;                      // and of threads that users' functions have started
  void describe_process(Snapshot& snapshot) const;
  bool reads_clocks_now() const noexcept { return now_ == clocks_read_at_; }

 private:
  // Every 10 ms.
  struct Tick final : Client {
    explicit Tick(Plant& owner) : plant(owner) {}
    void wake() override;
    Plant& plant;
  };
  static constexpr Time kBetweenClocks = 100 * kMillisecond;
  void read_limits();
  void read_clocks();
  void account_users();
  void settle();

  const HostSpec host_;
  Time now_ = 0;
  EventQueue events_;
  Processor processor_;
  SlotGate arena_, pool_;
  std::vector<std::unique_ptr<Chain>> chains_;
  Tick tick_;
  bool is_started_ = false;
  double cpu_budget_;
  std::int64_t user_threads_ = 0;
  double user_cpu_ = 0, user_clock_ = 0;
  Time clocks_read_at_ = -1, process_cpu_ = -1, workers_cpu_ = -1;
};

}  // namespace penstock::scorecard
