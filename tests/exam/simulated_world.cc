#include "tests/exam/simulated_world.h"

namespace penstock::exam {
namespace {
constexpr double kElement = 250;  // ns of CPU: of the engine, for an element in a call of several; see README.md
}

SimulatedWorld::SimulatedWorld(Host& host, const ChainSpec& spec, std::uint64_t seed) : World(spec, seed), host_(host) {
  for (const DeviceSpec& device : spec.devices) devices_.push_back(&host.add_device(device));
}

double SimulatedWorld::cost_of_element() const { return kElement; }

void SimulatedWorld::compute_on_threads(const std::vector<double>& ns) {
  host_.settle();
  Fibre& self = *host_.fibres().current();
  std::size_t left = ns.size();
  for (const double each : ns) {
    host_.spawn(Processor::users, [this, each, &left, &self] {
      host_.compute(each);
      host_.settle();
      if (--left == 0) self.wake();
    });
  }
  host_.wait();
}

}  // namespace penstock::exam
