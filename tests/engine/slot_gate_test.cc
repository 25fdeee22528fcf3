// Who goes before whom at the CPU slots.
#include "lib/exec/slot_gate.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

// Notes what it is offered and takes nothing.
class Noting final : public SlotGate::Waiter {
 public:
  explicit Noting(std::vector<std::size_t>& offered) : offered_(offered) {}
  void slot_is_free(std::size_t stage) override { offered_.push_back(stage); }

 private:
  std::vector<std::size_t>& offered_;
};

TEST(SlotGate, IsWantedByHigherRanksAndOtherRuns) {
  std::vector<std::size_t> offered;
  const auto run = std::make_shared<Noting>(offered), other = std::make_shared<Noting>(offered);
  const auto wanted = [&](const std::shared_ptr<Noting>& waiter, std::size_t rank) {
    SlotGate gate(1);
    EXPECT_TRUE(gate.acquire(run, 0, 3));
    EXPECT_FALSE(gate.acquire(waiter, 1, rank));
    return gate.is_wanted_before(run, 3);
  };
  EXPECT_TRUE(wanted(run, 4));
  EXPECT_FALSE(wanted(run, 3));
  EXPECT_FALSE(wanted(run, 1));
  EXPECT_TRUE(wanted(other, 1));
}

TEST(SlotGate, IsWantedWhenThereAreFewerSlotsThanBefore) {
  std::vector<std::size_t> offered;
  const auto run = std::make_shared<Noting>(offered);
  SlotGate gate(2);
  EXPECT_TRUE(gate.acquire(run, 0, 0));
  EXPECT_TRUE(gate.acquire(run, 0, 0));
  EXPECT_FALSE(gate.is_wanted_before(run, 0));
  gate.set_slots(1);
  EXPECT_TRUE(gate.is_wanted_before(run, 0));
}

TEST(SlotGate, OffersAFreeSlotToTheHighestRank) {
  std::vector<std::size_t> offered;
  const auto run = std::make_shared<Noting>(offered);
  SlotGate gate(1);
  EXPECT_TRUE(gate.acquire(run, 9, 0));
  for (const std::size_t rank : {2, 5, 3}) EXPECT_FALSE(gate.acquire(run, rank, rank));
  gate.release();
  EXPECT_EQ(offered, (std::vector<std::size_t>{5, 3, 2})) << "who does not take it is followed by the next";
}

TEST(SlotGate, OffersAFreeSlotToTheRunThatHasWaitedLongest) {
  std::vector<std::size_t> offered;
  const auto first = std::make_shared<Noting>(offered), second = std::make_shared<Noting>(offered);
  SlotGate gate(1);
  EXPECT_TRUE(gate.acquire(first, 9, 0));
  EXPECT_FALSE(gate.acquire(second, 1, 1));
  EXPECT_FALSE(gate.acquire(first, 7, 7));
  gate.release();
  EXPECT_EQ(offered, (std::vector<std::size_t>{1, 7}));
}

}  // namespace
}  // namespace penstock::exec
