// A device in a process: the rate that it lets through.
#include "tests/exam/device.h"

#include <gtest/gtest.h>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

double rate_with(DeviceSpec device, double ms, std::int64_t calls) {
  ProcessSpec spec = process_of({waiting(ms)});
  spec.chains[0].devices = {std::move(device)};
  spec.chains[0].stages[0].device = 0;
  SimulatedProcess process(spec, 1);
  process.run(0).knob("parallelism", 1).set(calls);
  return rate_of(process, 4);
}

TEST(Device, ServesAsManyAtOnceAsItHasSlots) {
  const DeviceSpec eight = {.slots = 8};
  EXPECT_NEAR(rate_with(eight, 8, 4), 500, 5);
  EXPECT_NEAR(rate_with(eight, 8, 8), 1'000, 10);
  EXPECT_NEAR(rate_with(eight, 8, 64), 1'000, 10);
}

TEST(Device, LockHasTheRateOfItsCrowd) {
  const DeviceSpec lock = {.rates = {100, 180, 150, 90}};
  for (const std::int64_t calls : {1, 2, 3, 4}) {
    const double rate = lock.rates[static_cast<std::size_t>(calls) - 1];
    EXPECT_NEAR(rate_with(lock, 1, calls), rate, 0.03 * rate) << calls;
  }
  EXPECT_NEAR(rate_with(lock, 1, 16), 90, 2) << "beyond the last figure it stays at that";
}

}  // namespace
}  // namespace penstock::exam
