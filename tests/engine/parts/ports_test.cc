// How much room a merge has promised its inputs, and what is known of them from outside.
#include "lib/exec/ports.h"

#include <penstock/merging.h>

#include <vector>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct TwoPorts {
  explicit TwoPorts(const graph::NodeRef& node = zip(range(9).prefetch(), range(9)).node()) : plan(compile(node)) {}

  const std::shared_ptr<const Plan> plan;
  NotingHost host{kBudget, 3};
  const StageTraits traits{plan->stages.back(), 2, host};
  StageSigns signs{2};
  Ports ports{traits, signs};

  std::string credits_after_changes_of(const std::vector<std::size_t>& changed);
};

std::string credits_text(const CreditList& credits) {
  std::string text;
  for (const Credits& each : credits) text += std::to_string(each.port) + ":" + std::to_string(each.count) + " ";
  return text;
}

std::string TwoPorts::credits_after_changes_of(const std::vector<std::size_t>& changed) {
  ports.note_changes(changed);
  return credits_text(ports.top_up(8));
}

TEST(Ports, PromiseRoomToThoseThatAreReadSoon) {
  TwoPorts of;
  EXPECT_EQ(credits_text(of.ports.top_up(8)), "");
  of.signs.ports[1].soon = true;
  EXPECT_EQ(of.credits_after_changes_of({1}), "1:8 ");
  EXPECT_EQ(credits_text(of.ports.top_up(8)), "") << "it is promised";
}

TEST(Ports, PromiseRoomAnewWhereHalfOfItIsUsedUp) {
  TwoPorts of;
  of.signs.ports[0].soon = true;
  of.ports.top_up(8);
  of.ports.receive(0, 8);
  EXPECT_EQ(of.ports.waiting(), 8);
  EXPECT_EQ(credits_text(of.ports.top_up(8)), "") << "nothing has been taken";
  of.signs.ports[0].occupied -= 3;
  EXPECT_EQ(of.credits_after_changes_of({0}), "");
  of.signs.ports[0].occupied -= 1;
  EXPECT_EQ(of.credits_after_changes_of({0}), "0:4 ");
}

TEST(Ports, PromiseRoomToOneThatIsWanted) {
  TwoPorts of;
  of.ports.top_up(8);
  of.signs.ports.wanted = 1;
  EXPECT_EQ(of.credits_after_changes_of({1}), "1:8 ");
}

TEST(Ports, PromiseRoomToAllWhereTheirCapacityHasGrown) {
  TwoPorts of;
  of.signs.ports[0].soon = of.signs.ports[1].soon = true;
  EXPECT_EQ(credits_text(of.ports.top_up(8)), "0:8 1:8 ");
  EXPECT_EQ(credits_text(of.ports.top_up(9)), "") << "not by as much as is worth it";
  EXPECT_EQ(credits_text(of.ports.top_up(20)), "0:12 1:12 ");
  EXPECT_EQ(credits_text(of.ports.top_up(4)), "");
  of.ports.receive(0, 20);
  of.ports.receive(1, 20);
  of.signs.ports[0].occupied = of.signs.ports[1].occupied = 3;
  EXPECT_EQ(credits_text(of.ports.top_up(20)), "0:17 1:17 ") << "grown again";
}

// More changes than there is room for: that one fails would cost the run.
TEST(Ports, LookAtAllWhereMuchHasChanged) {
  TwoPorts of;
  of.ports.top_up(8);
  of.signs.ports[0].soon = of.signs.ports[1].soon = true;
  of.ports.note_changes(std::vector<std::size_t>{0, 1});
  EXPECT_EQ(of.credits_after_changes_of({0}), "0:8 1:8 ");
}

TEST(Ports, KeepABufferThatTheUserHasFixed) {
  TwoPorts of(zip(range(9).prefetch(3), range(9)).node());
  of.signs.ports[0].soon = of.signs.ports[1].soon = true;
  EXPECT_EQ(credits_text(of.ports.top_up(8)), "0:3 1:8 ");
}

TEST(Ports, SayOnceThatOneIsEmptyAndWanted) {
  TwoPorts of;
  EXPECT_FALSE(of.ports.became_empty()) << "nothing is wanted";
  of.signs.ports.wanted = 0;
  EXPECT_TRUE(of.ports.became_empty());
  EXPECT_FALSE(of.ports.became_empty());
  of.signs.ports[0].occupied = 1;
  EXPECT_FALSE(of.ports.became_empty());
  of.signs.ports[0].occupied = 0;
  EXPECT_TRUE(of.ports.became_empty());
  of.signs.occupied = 1;
  EXPECT_FALSE(of.ports.became_empty()) << "its ring is not";
  of.signs.occupied = 0;
  EXPECT_TRUE(of.ports.became_empty());
  of.signs.ports.wanted = MergeSigns::kAll;
  EXPECT_TRUE(of.ports.became_empty()) << "the other one";
  of.signs.ports.wanted = 0;
  EXPECT_FALSE(of.ports.became_empty()) << "it was before";
  of.signs.ports.wanted = 1;
  EXPECT_TRUE(of.ports.became_empty());
}

}  // namespace
}  // namespace penstock::exec
