// Who goes before whom at the CPU slots.
#include "lib/exec/slot_gate.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

class Silent final : public SlotGate::Waiter {
 public:
  void slot_is_free(std::size_t) override {}
};

TEST(SlotGate, IsWantedByStagesFurtherDownFeedersAndOtherRuns) {
  const auto run = std::make_shared<Silent>(), other = std::make_shared<Silent>();
  const auto wanted = [&](const std::shared_ptr<Silent>& waiter, std::size_t waiting, std::size_t feeders) {
    SlotGate gate(1);
    EXPECT_TRUE(gate.acquire(run, 3));
    EXPECT_FALSE(gate.acquire(waiter, waiting));
    return gate.is_wanted_before(run, 3, feeders);
  };
  EXPECT_TRUE(wanted(run, 4, 0));
  EXPECT_FALSE(wanted(run, 1, 0));
  EXPECT_TRUE(wanted(run, 1, 2)) << "it feeds a stage that waits";
  EXPECT_FALSE(wanted(run, 2, 2));
  EXPECT_TRUE(wanted(other, 1, 0));
}

TEST(SlotGate, IsWantedWhenThereAreFewerSlotsThanBefore) {
  const auto run = std::make_shared<Silent>();
  SlotGate gate(2);
  EXPECT_TRUE(gate.acquire(run, 0));
  EXPECT_TRUE(gate.acquire(run, 0));
  EXPECT_FALSE(gate.is_wanted_before(run, 0, 0));
  gate.set_slots(1);
  EXPECT_TRUE(gate.is_wanted_before(run, 0, 0));
}

}  // namespace
}  // namespace penstock::exec
