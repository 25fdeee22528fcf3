// Results that are ready to leave, and how many may.
#include "lib/exec/output.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Leaving : PartOf {
  using PartOf::PartOf;
  Meter meter{traits};
  Sizes sizes{traits, signs, knobs, meter};
  Ring ring{traits, 3};
  Folded folded{signs};
  Output output{traits, ring, sizes, knobs, folded, meter};

  Group& waiting(const std::string& text) { return admit(ring, slots_of(text)); }
  Group& done(const std::string& text) {
    Group& group = waiting(text);
    output.add(group);
    return group;
  }
  // What leaves now.
  std::string collect() {
    const PacketRef packet = output.collect();
    std::int64_t unsent = 0;
    for (const auto& group : ring.groups()) {
      if (group->state == Group::State::done) unsent += static_cast<std::int64_t>(group->slots.size() - group->left);
    }
    EXPECT_EQ(output.credits() - output.room(), unsent) << "the output's books";
    return packet == nullptr ? "nothing" : text_of(packet->slots);
  }
};

TEST(Output, LeavesInTheOrderOfTheRing) {
  Leaving of;
  of.output.add_credits(100);
  Group& first = of.waiting("0 1");
  of.done("2");
  EXPECT_EQ(of.collect(), "nothing");
  EXPECT_EQ(of.output.room(), 99);
  of.output.add(first);
  EXPECT_EQ(of.output.room(), 97);
  EXPECT_EQ(of.collect(), "0 1 2");
  EXPECT_TRUE(of.ring.groups().empty());
  EXPECT_EQ(of.output.credits(), 97);
  EXPECT_EQ(of.collect(), "nothing");
}

TEST(Output, LeavesAsFarAsThereIsRoom) {
  Leaving of;
  of.done("0 1 2 |0");
  EXPECT_TRUE(of.output.is_blocked());
  EXPECT_EQ(of.collect(), "nothing");
  of.output.add_credits(2);
  EXPECT_FALSE(of.output.is_blocked());
  EXPECT_EQ(of.output.room(), -2);
  EXPECT_EQ(of.collect(), "0 1");
  EXPECT_TRUE(of.output.is_blocked());
  of.done("3");
  of.output.add_credits(3);
  EXPECT_EQ(of.collect(), "2 |0 3");
  EXPECT_EQ(of.meter.counters.elements_out, 4) << "and a mark";
}

TEST(Output, DoesNotCopyWhatLeavesWhole) {
  Leaving of;
  of.output.add_credits(10);
  const Slot* const place = of.done("0 1 2").slots.data();
  const PacketRef packet = of.output.collect();
  EXPECT_EQ(packet->slots.data(), place);
}

TEST(Output, MakesRoomWhereNothingIsLeftOfAGroup) {
  Leaving of;
  Group& group = of.waiting("0 1");
  group.slots.clear();
  of.output.add(group);
  EXPECT_EQ(of.collect(), "nothing");
  EXPECT_TRUE(of.ring.groups().empty());
  EXPECT_EQ(of.ring.in_window(), 0);
}

TEST(Output, InAnyOrderPassesWhatIsNotDoneButNoMark) {
  Leaving of(mapped(4, Order::arbitrary));
  of.output.add_credits(100);
  Group& first = of.waiting("0");
  of.done("1");
  Group& marked = of.done("2 3 |0");
  of.done("4");
  EXPECT_EQ(of.collect(), "1 2 3") << "the mark stays behind all that was admitted before it";
  EXPECT_EQ(of.collect(), "nothing");
  EXPECT_EQ(marked.left, 2u);
  of.output.add(first);
  EXPECT_EQ(of.collect(), "0 |0 4");
  Group& late = of.waiting("5 |0");
  of.done("6");
  EXPECT_EQ(of.collect(), "nothing") << "nor one that is not done";
  of.output.add(late);
  EXPECT_EQ(of.collect(), "5 |0 6");
}

TEST(Output, HasAGroupUnfoldWhenWhatHadSlotsHasLeft) {
  Leaving of;
  Group& group = of.done("0 1");
  group.folded.answers = slots_of("2 |0");
  group.mark.emplace();
  group.taken = 3;
  group.folded.placed = 4;
  of.done("5");
  of.output.add_credits(1);
  EXPECT_EQ(of.collect(), "0");
  EXPECT_TRUE(of.folded.empty());
  of.output.add_credits(10);
  EXPECT_EQ(of.collect(), "1");
  EXPECT_EQ(group.state, Group::State::waiting);
  EXPECT_TRUE(group.folded.is_unfolding);
  EXPECT_EQ(text_of(group.slots), "2 |0");
  EXPECT_TRUE(group.folded.answers.empty());
  EXPECT_EQ(group.taken, 7u) << "answers whose results have left";
  EXPECT_EQ(&of.folded.take_first(), &group);
  EXPECT_EQ(of.ring.ready(), 2u) << "these wait for a call: in this test, nobody has taken them";
  of.output.add(group);
  EXPECT_EQ(of.collect(), "2 |0 5");
}

// Several groups can have results without slots, and the younger one's may leave first.
TEST(Output, InAnyOrderUnfoldsInTheOrderInWhichResultsHaveLeft) {
  Leaving of(mapped(4, Order::arbitrary));
  of.output.add_credits(100);
  Group& older = of.waiting("0");
  Group& younger = of.done("1");
  older.folded.answers = slots_of("2");
  younger.folded.answers = slots_of("3");
  EXPECT_EQ(of.collect(), "1");
  of.output.add(older);
  EXPECT_EQ(of.collect(), "0");
  EXPECT_EQ(&of.folded.take_first(), &younger);
  EXPECT_EQ(&of.folded.take_first(), &older);
}

TEST(Output, TellsTheConsumerWhetherMoreComesSoonAndKeepsThatPromise) {
  Leaving of;
  teach(of.meter, 1, 100, 64);
  of.output.add_credits(10);
  const auto packet = [&](const std::string& text) {
    of.done(text);
    return of.output.collect();
  };
  EXPECT_EQ(of.output.for_consumer(nullptr, true, of.sizes), nullptr);
  PacketRef sent = of.output.for_consumer(packet("0"), true, of.sizes);
  EXPECT_TRUE(sent->more_soon);
  EXPECT_EQ(sent->worth_waiting, of.sizes.worth_waiting());
  EXPECT_TRUE(of.output.owes_wake());
  EXPECT_EQ(of.output.for_consumer(nullptr, true, of.sizes), nullptr) << "it still comes";
  sent = of.output.for_consumer(nullptr, false, of.sizes);
  ASSERT_NE(sent, nullptr) << "an empty one, for nothing comes any more";
  EXPECT_TRUE(sent->slots.empty());
  EXPECT_FALSE(sent->more_soon);
  EXPECT_FALSE(of.output.owes_wake());
  EXPECT_EQ(of.output.for_consumer(nullptr, false, of.sizes), nullptr) << "once";
}

TEST(Output, PromisesNothingWithoutRoomForIt) {
  Leaving of;
  of.output.add_credits(1);
  of.done("0");
  EXPECT_FALSE(of.output.for_consumer(of.output.collect(), true, of.sizes)->more_soon);
}

}  // namespace
}  // namespace penstock::exec
