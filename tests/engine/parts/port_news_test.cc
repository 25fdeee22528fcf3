// What a merge's run tells of its inputs, and of which of them it is news.
#include "lib/exec/port_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace penstock::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of which one input is read soon; counts how often it is asked.
struct OneSoon final : MergeState {
  void begin_pass(const Stamp&) override {}
  Want want() const override { return Want::one(0); }
  void take(std::size_t, Slot&&, Emitter&) override {}
  void ended(std::size_t, Emitter&) override {}
  bool soon(std::size_t input) const noexcept override { return ++asked, input == which; }

  std::size_t which = 0;
  mutable std::size_t asked = 0;
};

struct OfInputs {
  explicit OfInputs(std::size_t inputs) : signs(inputs), news(inputs) { news.use_signs(signs); }

  void run(const std::vector<std::size_t>& taken, const Want& wanted) {
    news.begin_run();
    for (const std::size_t port : taken) {
      news.take(port);
      news.count_step();
    }
    news.tell(wanted, state);
  }

  MergeSigns signs;
  PortNews news;
  OneSoon state;
};

TEST(PortNews, AreWhatWasTakenAndWhatIsWanted) {
  OfInputs of(100);
  for (const std::size_t port : {7u, 8u, 9u}) of.signs[port].occupied = 5;
  of.run({8, 7, 8}, Want::one(9));
  EXPECT_THAT(of.news.changes(), ElementsAre(8, 7, 9));
  EXPECT_EQ(of.signs[7].occupied, 4);
  EXPECT_EQ(of.signs[8].occupied, 3);
  EXPECT_TRUE(of.signs.is_wanted(9));
  of.run({}, Want::one(9));
  EXPECT_THAT(of.news.changes(), IsEmpty()) << "it is known";
  of.run({}, Want::nothing());
  EXPECT_FALSE(of.signs.is_wanted(9));
}

TEST(PortNews, AreAllInputsWhereAllAreWanted) {
  OfInputs of(3);
  of.run({}, Want::all());
  EXPECT_THAT(of.news.changes(), ElementsAre(0, 1, 2));
  EXPECT_EQ(of.signs.first_empty(), 0u);
  of.signs[0].occupied = of.signs[2].occupied = 1;
  EXPECT_EQ(of.signs.first_empty(), 1u);
}

TEST(PortNews, ToldWithTheLastSlotOfAPacketAreNotToldAgain) {
  OfInputs of(2);
  of.signs[1].occupied = 5;
  of.news.take(1);
  of.news.tell_of_taken(1);
  EXPECT_EQ(of.signs[1].occupied, 4);
  of.news.tell(Want::one(1), of.state);
  EXPECT_EQ(of.signs[1].occupied, 4);
}

TEST(PortNews, AskWhichInputsAreReadSoonOnceInSoManySteps) {
  OfInputs of(100);
  of.news.ask_of_all();
  of.run({}, Want::one(0));
  EXPECT_EQ(of.state.asked, 100u) << "a pass has begun";
  EXPECT_TRUE(of.signs[0].soon);
  of.state.which = 50;
  for (int step = 0; step < 24; ++step) of.run({0}, Want::one(0));
  EXPECT_EQ(of.state.asked, 100u);
  EXPECT_FALSE(of.signs[50].soon);
  of.run({0}, Want::one(0));
  EXPECT_EQ(of.state.asked, 200u);
  EXPECT_TRUE(of.signs[50].soon);
  EXPECT_FALSE(of.signs[0].soon);
  EXPECT_THAT(of.news.changes(), ElementsAre(0, 50));
}

TEST(PortNews, AskTheNextInputsWhenAnotherOneIsWanted) {
  OfInputs of(100);
  of.run({}, Want::one(0));
  of.state.which = 53;
  of.run({0}, Want::one(50));
  EXPECT_TRUE(of.signs[53].soon) << "it may be wanted next";
  of.state.which = 3;
  of.run({50}, Want::one(98));
  EXPECT_TRUE(of.signs[3].soon) << "behind the last one comes the first";
}

TEST(PortNews, AskAFewInputsWithEachStep) {
  OfInputs of(4);
  of.run({0}, Want::one(0));
  of.run({0}, Want::one(0));
  EXPECT_EQ(of.state.asked, 8u);
}

}  // namespace
}  // namespace penstock::exec
