// Results without slots, behind those of the same call that have some.
#include "lib/exec/folded_results.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

TEST(FoldedResults, AreNoneInTheBeginning) {
  const FoldedResults folded;
  EXPECT_TRUE(folded.empty());
  EXPECT_FALSE(folded.is_unfolding);
}

// "0 1 2 3 |0", of which the first two have slots: as a stage goes through them.
TEST(FoldedResults, TakeThePlaceOfThoseThatHaveLeft) {
  FoldedResults folded;
  Slots slots = slots_of("10 11 12"), left = slots_of("2 3 |0");
  folded.fold(left, 2);
  EXPECT_FALSE(folded.empty());
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(folded.unfold(slots), 2u) << "answers that were in front of them";
  EXPECT_EQ(text_of(slots), "2 3 |0");
  EXPECT_TRUE(folded.empty());
  EXPECT_TRUE(folded.is_unfolding);
}

TEST(FoldedResults, GoOnUntilAllHaveSlots) {
  FoldedResults folded;
  Slots slots;
  std::size_t before = 0;
  for (const auto* rest : {"1 2 3", "2 3", "3"}) {
    Slots left = slots_of(rest);
    folded.fold(left, 1);
    before += folded.unfold(slots);
    EXPECT_EQ(text_of(slots), rest);
  }
  EXPECT_EQ(before, 3u);
}

// Both lists are as long as they will ever be.
TEST(FoldedResults, ExchangeTheirStorageWithTheGroups) {
  FoldedResults folded;
  Slots slots = slots_of("10 11"), left = slots_of("2 3");
  const Slot* const of_slots = slots.data();
  const Slot* const of_answers = left.data();
  folded.fold(left, 2);
  folded.unfold(slots);
  EXPECT_EQ(slots.data(), of_answers);
  Slots next;
  folded.fold(next, 1);
  EXPECT_EQ(next.data(), of_slots);
  EXPECT_TRUE(next.empty()) << "what had left";
}

}  // namespace
}  // namespace penstock::exec
