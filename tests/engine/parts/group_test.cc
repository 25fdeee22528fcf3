// A group, and where its inputs stand.
#include "lib/exec/group.h"

#include "lib/exec/row_ledger.h"
#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

TEST(Group, GivesBackWhatTheCallHasNotTouched) {
  Group group;
  group.slots = slots_of("0 1 2 |0");
  group.give_back(1);
  EXPECT_EQ(text_of(group.slots), "0");
  EXPECT_EQ(text_of(group.rest.slots), "1 2 |0");
  EXPECT_EQ(group.rest.begin, 1);
  EXPECT_FALSE(group.rest.is_flush);
}

TEST(Group, GivesBackAMarkBeforeWhichThereIsMore) {
  Group group;
  group.slots = slots_of("|0");
  group.give_back(0, true);
  EXPECT_TRUE(group.slots.empty());
  EXPECT_EQ(text_of(group.rest.slots), "|0");
  EXPECT_TRUE(group.rest.is_flush);
}

TEST(Group, GivesNothingBackOfACallThatIsThrough) {
  Group group;
  group.slots = slots_of("0 1");
  group.give_back(2);
  EXPECT_EQ(text_of(group.slots), "0 1");
  EXPECT_TRUE(group.rest.slots.empty());
}

TEST(Group, IsWantedBackWhileItRuns) {
  Group group;
  group.want_back();  // nobody can look into it
  group.call = std::make_unique<OpenCall>();
  for (const auto state : {Group::State::waiting, Group::State::done, Group::State::running}) {
    group.call->open(2, false);
    group.state = state;
    group.want_back();
    EXPECT_EQ(group.call->progress.is_wanted_back, state == Group::State::running);
  }
}

TEST(Group, IsOpenFromTheBeginningOfItsCallToItsEnd) {
  Group group;
  EXPECT_FALSE(group.is_open());
  group.call = std::make_unique<OpenCall>();
  EXPECT_FALSE(group.is_open());
  group.call->open(2, false);
  EXPECT_TRUE(group.is_open());
  group.call->close();
  EXPECT_FALSE(group.is_open());
  EXPECT_TRUE(group.call->is_counted) << "the thread that runs it has still to say so";
}

TEST(Group, IsAsNewWhenItIsClearedButForItsStorage) {
  Group group;
  fill(group, slots_of("0 1 |0", 3, 100));
  group.results = slots_of("2");
  group.call = std::make_unique<OpenCall>();
  group.kind = Group::Kind::came_back;
  group.is_unwanted = true;
  group.memory.needs = 10;
  const Slot* const slots = group.slots.data();
  const Slot* const results = group.results.data();
  const OpenCall* const call = group.call.get();
  group.clear();
  EXPECT_TRUE(group.slots.empty());
  EXPECT_EQ(group.slots.data(), slots);
  EXPECT_EQ(group.results.data(), results);
  EXPECT_EQ(group.call.get(), call);
  EXPECT_EQ(group.inputs.admitted + group.inputs.bytes + group.inputs.elements + group.memory.needs, 0);
  EXPECT_EQ(group.kind, Group::Kind::inputs);
  EXPECT_FALSE(group.is_unwanted);
  EXPECT_FALSE(group.mark);
}

TEST(Group, KeepsNoLongListForLater) {
  Group group;
  group.slots = slots_of(count_up(kLargestGroup));
  group.clear();
  EXPECT_EQ(group.slots.capacity(), 0u);
}

TEST(InputCounts, LeaveWithWhatIsHandedOn) {
  InputCounts group{.admitted = 5, .bytes = 400, .elements = 4};
  group -= {.admitted = 2, .bytes = 150, .elements = 1};
  EXPECT_EQ(group.admitted, 3);
  EXPECT_EQ(group.bytes, 250);
  EXPECT_EQ(group.elements, 3);
}

TEST(InputPlace, OfASlotBehindIsAsFarBehindInEachCount) {
  const InputPlace place{.number = 1024, .first_ordinal = 7, .first_turn = 40, .sequence = 5};
  const InputPlace behind = place.behind(3);
  EXPECT_EQ(behind.number, 1027);
  EXPECT_EQ(behind.first_ordinal, 10);
  EXPECT_EQ(behind.first_turn, 43);
  EXPECT_EQ(behind.sequence, 5u) << "a pass ends behind a group";
}

TEST(InputPlace, HasNoTurnWhereTheOpUsesNone) {
  const InputPlace none{.number = 0, .first_ordinal = 0, .first_turn = RowLedger::kNoTurn, .sequence = 0};
  EXPECT_FALSE(none.has_turns());
  EXPECT_EQ(none.behind(3).first_turn, RowLedger::kNoTurn);
  EXPECT_FALSE(InputPlace().has_turns());
  const InputPlace first{.number = 0, .first_ordinal = 0, .first_turn = 0, .sequence = 0};
  EXPECT_TRUE(first.has_turns());
}

TEST(PassEnd, IsOfAMark) {
  EXPECT_FALSE(PassEnd::of(slots_of("0").front()));
  EXPECT_FALSE(PassEnd::of(slots_of("e").front()));
  const auto end = PassEnd::of(slots_of("|2", 7).front());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->level, 2);
  EXPECT_EQ(end->sequence, 7u);
}

TEST(PassEnd, EndsTheInputOfOpsWithNoMoreRepeatsUpstream) {
  const PassEnd end{.level = 1, .sequence = 0};
  EXPECT_TRUE(end.ends_input(0));
  EXPECT_TRUE(end.ends_input(1));
  EXPECT_FALSE(end.ends_input(2));
}

}  // namespace
}  // namespace penstock::exec
