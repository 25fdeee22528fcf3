// Groups in the order of their inputs, and which of them may begin.
#include "lib/exec/ring.h"

#include <vector>

#include "lib/exec/row_ledger.h"
#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Ringed : PartOf {
  using PartOf::PartOf;
  Ring ring{traits, 3};

  std::int64_t admitted() const {
    std::int64_t sum = 0;
    for (const auto& group : ring.groups()) sum += group->inputs.admitted;
    return sum;
  }
  // Takes all that wait, as their first slots: "0 4 7".
  std::string take_ready() {
    Slots firsts;
    for (; ring.ready() > 0; ring.pop_ready())
      firsts.emplace_back(Element(ring.first_ready().slots.front().value.get<std::int64_t>()), Stamp());
    return text_of(firsts);
  }
  // The oldest that waits, as a token does it.
  Group& begin() {
    Group& group = ring.first_ready();
    ring.pop_ready();
    group.state = Group::State::running;
    return group;
  }
};

TEST(Ring, CountsWhatItsGroupsHaveAdmitted) {
  Ringed of;
  admit(of.ring, slots_of("0 1 2"));
  Group& second = admit(of.ring, slots_of("3 4"));
  EXPECT_EQ(of.ring.in_window(), 5);
  of.ring.keep_first(second, 1);
  EXPECT_EQ(of.ring.in_window(), 5);
  EXPECT_EQ(of.admitted(), 5);
  of.ring.retire(0);
  EXPECT_EQ(of.ring.in_window(), 2);
  of.ring.admit_less(*of.ring.groups().front(), 5);
  EXPECT_EQ(of.ring.in_window(), 2) << "it is less already";
  of.ring.spare(of.ring.new_group());
  EXPECT_EQ(of.ring.in_window(), of.admitted());
}

TEST(Ring, CountsWhatASourceWillNotMakeNoMore) {
  Ringed of(mapped(), 0);
  auto group = of.ring.new_group();
  group->inputs.admitted = 100;
  of.ring.append(std::move(group));
  of.ring.admit_less(*of.ring.groups().front(), 30);
  EXPECT_EQ(of.ring.in_window(), 30);
  EXPECT_EQ(of.admitted(), 30);
}

TEST(Ring, HasThoseInLineThatWait) {
  Ringed of;
  auto done = of.ring.new_group();
  done->state = Group::State::done;
  of.ring.append(std::move(done));
  Group& second = admit(of.ring, slots_of("0 1"));
  EXPECT_EQ(of.ring.ready(), 1u);
  EXPECT_EQ(&of.ring.first_ready(), &second);
  EXPECT_FALSE(is_oldest(of.ring, second));
}

TEST(Ring, PutsBackInTheOrderOfTheRing) {
  Ringed of;
  for (const auto* text : {"0 1", "2 3 4", "5", "6"}) admit(of.ring, slots_of(text));
  Group& first = of.begin();
  Group& second = of.begin();
  Group& third = of.begin();
  of.ring.put_in_line(second);
  of.ring.put_in_line(third);
  of.ring.keep_first(second, 1);
  of.ring.put_in_line(first);
  EXPECT_EQ(text_of(of.ring), "0 1, 2, 3 4, 5, 6");
  EXPECT_EQ(of.take_ready(), "0 2 3 5 6");
}

TEST(Ring, GivesTheRestItsOwnNumbersAndTheMark) {
  Ringed of;
  of.ring.count_inputs(7, false);
  Group& group = admit(of.ring, slots_of("0 1 2 |1", 5, 100));
  group.place.first_turn = 40;
  group.kind = Group::Kind::came_back;
  group.memory.hint = 1000;
  Group& rest = of.ring.keep_first(group, 1);
  EXPECT_EQ(text_of(of.ring), "0, 1 2 |1");
  EXPECT_EQ(rest.place.number, group.place.number + 1);
  EXPECT_EQ(rest.place.first_ordinal, 8);
  EXPECT_EQ(rest.place.first_turn, 41);
  EXPECT_EQ(rest.place.sequence, 5u);
  EXPECT_EQ(group.inputs.bytes, 100);
  EXPECT_EQ(rest.inputs.bytes, 200);
  EXPECT_FALSE(group.mark);
  ASSERT_TRUE(rest.mark);
  EXPECT_EQ(rest.mark->level, 1);
  EXPECT_EQ(rest.mark->sequence, 5u);
  EXPECT_EQ(rest.kind, Group::Kind::came_back);
  EXPECT_EQ(group.memory.hint, -1) << "it was for all of them";
}

TEST(Ring, HasRoomForTheNumbersOfAllParts) {
  Ringed of;
  Group& group = admit(of.ring, slots_of(count_up(kLargestGroup)));
  Group& next = admit(of.ring, slots_of("1000"));
  Group* last = &group;
  for (std::int64_t i = 1; i < kLargestGroup; ++i) last = &of.ring.keep_first(*last, 1);
  EXPECT_EQ(last->place.number, group.place.number + kLargestGroup - 1);
  EXPECT_LT(last->place.number, next.place.number);
  EXPECT_EQ(last->place.first_turn, RowLedger::kNoTurn) << "nobody has given the first one any";
}

TEST(Ring, CountsInputsOfEachPassFromItsBeginning) {
  Ringed of;
  const auto first = [&] {
    auto group = of.ring.new_group();
    const std::int64_t ordinal = group->place.first_ordinal;
    of.ring.spare(std::move(group));
    return ordinal;
  };
  of.ring.count_inputs(3, false);
  of.ring.count_inputs(4, false);
  EXPECT_EQ(first(), 7);
  of.ring.count_inputs(2, true);
  EXPECT_EQ(first(), 0);
}

TEST(Ring, KnowsWhichMarksHaveLeft) {
  Ringed of;
  admit(of.ring, slots_of("0 |1", 4));
  EXPECT_FALSE(of.ring.has_left(0, 4));
  of.ring.retire(0);
  EXPECT_TRUE(of.ring.has_left(0, 4));
  EXPECT_TRUE(of.ring.has_left(1, 3));
  EXPECT_FALSE(of.ring.has_left(1, 5));
  EXPECT_FALSE(of.ring.has_left(2, 4)) << "that pass goes on";
}

TEST(Ring, MakesANewGroupOfTheStorageOfAnOldOne) {
  Ringed of;
  Group& old = admit(of.ring, slots_of("0 1 2 |0"));
  const Slot* const storage = old.slots.data();
  old.memory.reserved = 7;
  old.state = Group::State::done;
  of.ring.retire(0);
  auto group = of.ring.new_group();
  EXPECT_TRUE(group->slots.empty());
  group->slots.emplace_back();
  EXPECT_EQ(group->slots.data(), storage);
  EXPECT_EQ(group->state, Group::State::waiting);
  EXPECT_EQ(group->memory.reserved + group->inputs.admitted, 0);
  EXPECT_FALSE(group->mark);
}

TEST(Ring, LetsOneGroupGoAfterTheOther) {
  Ringed of;
  admit(of.ring, slots_of("0 1"));
  admit(of.ring, slots_of("2"));
  EXPECT_EQ(text_of(of.ring.let_go()->slots), "2");
  EXPECT_EQ(text_of(of.ring.let_go()->slots), "0 1");
  EXPECT_EQ(of.ring.let_go(), nullptr);
  EXPECT_TRUE(of.ring.groups().empty());
  EXPECT_EQ(of.ring.ready(), 0u);
  EXPECT_EQ(of.ring.in_window(), 0);
  EXPECT_EQ(of.ring.startable_groups(kWide), 0);
}

}  // namespace
}  // namespace penstock::exec
