// RealWorld: what the functions of a scenario's pipeline do, on this machine: they sleep, hold a device, and burn CPU
// time.
#pragma once

#include <penstock/tensor.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/exam/world.h"

namespace penstock::exam {

// Until the calling thread has used that much CPU time: neighbours make it slower, not dearer. Off by some
// microseconds.
void burn_cpu(double ns);
void sleep_ns(double ns);

// A disk that takes some requests at once, or a lock that all calls hold in turn and that takes the longer the more
// crowd around it. Any thread.
class RealDevice {
 public:
  explicit RealDevice(DeviceSpec spec) : spec_(std::move(spec)) {}

  // Waits for its turn and for the service. `ns`: of the service alone; `calls`: the same as a share of the average
  // call.
  void serve(double ns, double calls);

 private:
  void hold_slot(double ns);
  void hold_lock(double calls);

  const DeviceSpec spec_;
  std::mutex mutex_;
  std::condition_variable free_;
  int busy_ = 0;
  std::int64_t next_ticket_ = 0, serving_ = 0;  // of a lock: who is served has its turn
  Time lock_free_at_ = 0;                       // of the clock that now_ns() reads; belongs to who is served
};

class RealWorld final : public World {
 public:
  explicit RealWorld(const ChainSpec& spec);

  void begin();  // its clock, once, before the run's first request

  Time now() const override;
  void compute(double ns) override { burn_cpu(ns); }
  void sleep(double ns) override { sleep_ns(ns); }
  void use_device(int device, double ns, double share) override {
    devices_[static_cast<std::size_t>(device)]->serve(ns, share);
  }
  void compute_on_threads(const std::vector<double>& ns) override;
  Tensor allocate(std::int64_t bytes) override { return Tensor(DType::u8, {bytes}); }

 private:
  Time begun_ = 0;
  std::vector<std::unique_ptr<RealDevice>> devices_;
};

}  // namespace penstock::exam
