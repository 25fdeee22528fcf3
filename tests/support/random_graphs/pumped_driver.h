// The engine's stages without threads: one token after the other, in an order drawn from a seed,
// with knobs moved and completions delivered between any two of them. What goes wrong here goes
// wrong again with the same seed.
#pragma once

#include <memory>
#include <vector>

#include "tests/support/random_graphs/courier.h"
#include "tests/support/random_graphs/trial.h"

namespace random_graphs {

// Keeps parcels until it is told to deliver one; at once where nobody pumps.
class PumpedCourier final : public Courier {
 public:
  void send(std::unique_ptr<Parcel> parcel) override;
  void hold() override {}  // nothing is delivered between the steps of a schedule
  std::int64_t release() override;

  bool deliver_one(Random& random);  // false: there is none

  // While one of these lives, parcels are kept.
  class Pumping {
   public:
    explicit Pumping(PumpedCourier& courier) : courier_(courier) { courier_.pumped_ = true; }
    ~Pumping() { courier_.pumped_ = false; }
    Pumping(const Pumping&) = delete;
    Pumping& operator=(const Pumping&) = delete;

   private:
    PumpedCourier& courier_;
  };

 private:
  std::vector<std::unique_ptr<Parcel>> parcels_;
  bool pumped_ = false;
};

// Its runs throw Failure when nothing can move any more although the consumer waits. Checkpoints and error policies
// are as those of the library's runs.
Driver pumped_driver(std::shared_ptr<PumpedCourier> courier);

}  // namespace random_graphs
