// Courier: answers Completions, elsewhere and later, as a network or an accelerator would.
#pragma once

#include <penstock/op.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/random.h"

namespace random_graphs {

namespace ps = penstock;
using ps::test::Random;

// A Completion with what it is to be told. lost: it is dropped without an answer.
struct Parcel {
  ps::Completion completion;
  std::vector<ps::Element> values;
  std::exception_ptr error;
  bool lost = false;

  void deliver();  // once
};

class Courier {
 public:
  virtual ~Courier() = default;
  virtual void send(std::unique_ptr<Parcel> parcel) = 0;  // any thread

  // Until release() nothing is delivered: what is under way when a run ends is then late for certain.
  virtual void hold() = 0;
  virtual std::int64_t release() = 0;  // how many were held
};

// Delivers on a thread of its own, in an order of its own.
class ThreadCourier final : public Courier {
 public:
  explicit ThreadCourier(std::uint64_t seed);
  ~ThreadCourier() override;
  void send(std::unique_ptr<Parcel> parcel) override;
  void hold() override;
  std::int64_t release() override;
  void wait_for_one();  // until one is held

 private:
  void work();

  std::mutex mutex_;  // all below but the thread
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Parcel>> parcels_;
  Random random_;
  bool held_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace random_graphs
