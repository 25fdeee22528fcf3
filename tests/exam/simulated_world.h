// SimulatedWorld: what the functions of a scenario's pipeline do, in virtual time.
#pragma once

#include <vector>

#include "tests/exam/host.h"
#include "tests/exam/world.h"

namespace penstock::exam {

class SimulatedWorld final : public World {
 public:
  SimulatedWorld(Host& host, const ChainSpec& spec, std::uint64_t seed);

  Time now() const override { return host_.time(); }
  void compute(double ns) override { host_.compute(ns); }
  void sleep(double ns) override { host_.sleep(ns); }
  void use_device(int device, double ns, double share) override {
    host_.use(*devices_[static_cast<std::size_t>(device)], ns, share);
  }
  void compute_on_threads(const std::vector<double>& ns) override;
  Tensor allocate(std::int64_t) override { return {}; }
  double cost_of_element() const override;

 private:
  Host& host_;
  std::vector<Device*> devices_;
};

}  // namespace penstock::exam
