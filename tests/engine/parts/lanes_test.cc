// Whose turn it is in a nest, and which dataset is called next.
#include "lib/exec/lanes.h"

#include "lib/exec/inner.h"
#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

graph::NodeRef interleaved(InterleaveOptions options) {
  return range(100).interleave([](std::int64_t x) { return range(x); }, options).node();
}

struct Nest : PartOf {
  explicit Nest(InterleaveOptions options) : PartOf(interleaved(options)) {}

  Meter meter{traits};
  Sizes sizes{traits, signs, knobs, meter};
  Ring ring{traits, 2};
  Lanes lanes{traits, ring, sizes, knobs};

  // An element, "e" or a mark.
  Group& admit(const std::string& text) {
    auto group = ring.new_group();
    fill(*group, slots_of(text));
    lanes.admit(*group);
    if (!group->inner || group->inner->has_ended) group->state = Group::State::done;
    Group& admitted = *group;
    if (group->inner && group->inner->has_ended) lanes.add(*group);
    ring.append(std::move(group));
    return admitted;
  }
  // The group that is to be called now.
  Group& begin() {
    Group& group = ring.first_ready();
    ring.pop_ready();
    group.state = Group::State::running;
    return group;
  }
  // Its call has given these, "." at their end: the dataset has no more.
  void end(Group& group, std::string text) {
    group.inner->has_ended = text.back() == '.';
    if (group.inner->has_ended) text.pop_back();
    group.slots = slots_of(text);
    lanes.add(group);
  }
  std::string collect(std::int64_t credits = 100) {
    Slots out;
    lanes.collect(out, credits);
    EXPECT_LE(std::ssize(out), credits);
    return text_of(out);
  }
};

TEST(Lanes, GiveInTurnWhateverIsReadyFirst) {
  Nest nest({.cycle_length = 2});
  nest.admit("1");
  nest.admit("2");
  Group& first = nest.begin();
  Group& second = nest.begin();
  nest.end(second, "20 21.");
  EXPECT_EQ(nest.collect(), "");
  nest.end(first, "10 11.");
  EXPECT_EQ(nest.collect(), "10 20 11 21");
}

TEST(Lanes, GiveNoMoreThanThereIsRoomFor) {
  Nest nest({.cycle_length = 1});
  nest.admit("1");
  nest.end(nest.begin(), "10 11 12.");
  EXPECT_EQ(nest.collect(0), "");
  EXPECT_EQ(nest.collect(2), "10 11");
  EXPECT_EQ(nest.collect(2), "12");
}

TEST(Lanes, WaitForTheInputWhereAPlaceIsFree) {
  Nest nest({.cycle_length = 2});
  EXPECT_TRUE(nest.lanes.wants_input());
  nest.admit("1");
  nest.end(nest.begin(), "10 11.");
  EXPECT_EQ(nest.collect(), "10");
  EXPECT_TRUE(nest.lanes.wants_input()) << "another one would give before 11";
  nest.admit("|0");
  EXPECT_FALSE(nest.lanes.wants_input());
  EXPECT_EQ(nest.collect(), "11 |0");
  EXPECT_TRUE(nest.ring.groups().empty());
}

TEST(Lanes, KeepAMarkUntilAllBeforeItAreUsedUp) {
  Nest nest({.cycle_length = 3});
  nest.admit("1");
  nest.admit("|0");
  nest.admit("2");
  Group& first = nest.begin();
  nest.end(nest.begin(), "20.");
  EXPECT_EQ(nest.collect(), "");
  nest.end(first, "10.");
  EXPECT_EQ(nest.collect(), "10 |0 20");
}

TEST(Lanes, GiveAnErrorOfTheInputAsADatasetOfItsOwn) {
  Nest nest({.cycle_length = 2});
  nest.admit("1");
  nest.admit("e");
  nest.end(nest.begin(), "10 11.");
  nest.admit("|0");
  EXPECT_EQ(nest.collect(), "10 e 11 |0");
}

TEST(Lanes, CallFirstWhatIsAtTheTurnAndHasNothing) {
  Nest nest({.cycle_length = 2});
  nest.admit("1");
  nest.admit("2");
  Group& first = nest.begin();
  Group& second = nest.begin();
  nest.end(first, "10");
  nest.end(second, "20 21");
  nest.admit("3");  // which is opened ahead
  EXPECT_EQ(nest.collect(), "10 20");
  EXPECT_TRUE(nest.lanes.is_due(first));
  EXPECT_EQ(&nest.begin(), &first);
  EXPECT_EQ(&nest.begin(), &second) << "it has room again, and an open one goes before one that is to be opened";
  nest.end(first, "11");
  EXPECT_EQ(nest.collect(), "11 21");
  EXPECT_FALSE(nest.lanes.is_due(second)) << "it runs, and it is not its turn";
}

TEST(Lanes, CallNoneThatHasEnough) {
  Nest nest({.cycle_length = 1, .block_length = 2});
  Group& group = nest.admit("1");
  EXPECT_EQ(group.inner->wanted, 4) << "two blocks, as long as nobody knows what they take";
  nest.end(nest.begin(), "10 11 12");
  EXPECT_EQ(group.state, Group::State::done);
  EXPECT_EQ(nest.collect(1), "10");
  EXPECT_EQ(group.state, Group::State::waiting);
  EXPECT_EQ(group.inner->wanted, 2);
}

TEST(Lanes, CallOnceMoreWhatNobodyWants) {
  Nest nest({.cycle_length = 1, .block_length = 2});
  Group& group = nest.admit("1");
  nest.end(nest.begin(), "10 11 12 13");
  EXPECT_EQ(group.state, Group::State::done);
  group.is_unwanted = true;
  nest.lanes.give_up(group);
  EXPECT_EQ(&nest.begin(), &group);
  EXPECT_EQ(group.inner->wanted, 0);
}

TEST(Lanes, InArbitraryOrderGiveWhatThereIs) {
  Nest nest({.cycle_length = 2, .order = Order::arbitrary});
  nest.admit("1");
  nest.admit("2");
  nest.admit("|0");
  Group& first = nest.begin();
  nest.end(nest.begin(), "20 21.");
  EXPECT_EQ(nest.collect(), "20 21");
  nest.end(first, "10.");
  EXPECT_EQ(nest.collect(), "10 |0");
}

}  // namespace
}  // namespace penstock::exec
