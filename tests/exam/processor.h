// Processor: the cores of the host, shared by all who are ready to run.
//
// Each thread gets at most one core, and a share by its weight where there are more threads than cores. Threads in
// excess cost a little of everybody's speed. A quota binds our process, not the others on the host.
#pragma once

#include <array>
#include <cstdint>

#include "tests/exam/events.h"
#include "tests/exam/shared_server.h"

namespace penstock::exam {

class Processor {
 public:
  enum Threads : std::uint8_t { workers, consumers, controllers, users };  // users: that a function has started
  static constexpr std::size_t kKinds = 4;

  explicit Processor(double cores) : cores_(cores), quota_(cores) {}

  // Wakes the client when it has had `work` nanoseconds of CPU.
  void add(Threads threads, double work, Client& client) {
    server_[threads].add(work, client);
    is_known_ = false;
  }
  // CPU time that one thread of this kind has got since the start, as long as it was ready to run.
  double clock(Threads threads) const noexcept { return clock_[threads]; }
  double cpu_used(Threads threads) const noexcept { return used_[threads]; }  // all of this kind
  double cpu_used_foreign() const noexcept { return used_foreign_; }

  void set_worker_weight(double weight) { is_known_ = false, worker_weight_ = weight; }
  void set_quota(double cores) { is_known_ = false, quota_ = cores; }
  void set_foreign(int processes) { is_known_ = false, foreign_ = processes; }
  double cores_of_process() const noexcept { return quota_ < cores_ ? quota_ : cores_; }

  Time next(Time now);  // when the next one has its work
  void advance(Time by);
  bool wake_finished();  // one of them; false: there is none

 private:
  void share_out();

  const double cores_;
  double quota_;
  double worker_weight_ = 1;
  int foreign_ = 0;
  bool is_known_ = false;                 // the rates below
  std::array<double, kKinds> rate_ = {};  // CPU time per time, of each thread
  double foreign_rate_ = 0;
  double speed_ = 1;  // work per CPU time
  std::array<double, kKinds> clock_ = {}, used_ = {};
  double used_foreign_ = 0;
  std::array<SharedServer, kKinds> server_;
};

}  // namespace penstock::exam
