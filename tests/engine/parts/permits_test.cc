// Tokens, and how many calls may run before anybody knows what their results hold.
#include "lib/exec/permits.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

void expect_sound(const Permits& permits) {
  EXPECT_LE(permits.detached, permits.running);
  EXPECT_LE(permits.cpu_slots, permits.tokens);
  EXPECT_GE(permits.idle(), 0);
}

TEST(Permits, KnowWhichTokensAreStillToTakeAGroup) {
  Permits permits;
  for (int i = 0; i < 3; ++i) permits.hand_out(true);
  EXPECT_EQ(permits.idle(), 3);
  permits.running = 2;
  EXPECT_EQ(permits.idle(), 1);
  permits.detached = 1;  // its token goes on
  EXPECT_EQ(permits.idle(), 2);
  EXPECT_EQ(permits.calls(), 4) << "three tokens, and a call that none of them has";
  expect_sound(permits);
}

TEST(Permits, GiveACpuSlotBackWithEachTokenThatHasOne) {
  Permits permits;
  permits.hand_out(true);
  permits.hand_out(true);
  EXPECT_EQ(permits.cpu_slots, 2);
  EXPECT_TRUE(permits.take_back(false));
  EXPECT_TRUE(permits.take_back(false));
  EXPECT_EQ(permits.cpu_slots, 0);
  EXPECT_EQ(permits.tokens, 0);
}

// The stage's placement is changed while its tokens are out.
TEST(Permits, HaveNoMoreCpuSlotsThanTokensWhereverTheStageRuns) {
  Permits permits;
  permits.hand_out(true);
  permits.cpu_slots = 0;  // it goes to the pool, and the token on without a slot
  permits.hand_out(false);
  permits.hand_out(true);  // it is back
  expect_sound(permits);
  EXPECT_FALSE(permits.take_back(true)) << "one of the pool's";
  expect_sound(permits);
  EXPECT_TRUE(permits.take_back(false)) << "whichever of the two: there is one slot";
  expect_sound(permits);
  EXPECT_FALSE(permits.take_back(false)) << "it ends without";
  EXPECT_EQ(permits.tokens, 0);
  EXPECT_EQ(permits.cpu_slots, 0);
}

struct Starting : PartOf {
  using PartOf::PartOf;
  FirstCalls first{traits, signs};
};

TEST(FirstCalls, AreOneUntilOneHasGivenAResult) {
  Starting of;
  EXPECT_EQ(of.first.most(4, 0), 1);
  EXPECT_TRUE(of.signs.is_starting);
  EXPECT_EQ(of.first.most(4, 1), 4);
  EXPECT_FALSE(of.signs.is_starting);
}

TEST(FirstCalls, AreMoreWhereOneLastsButNeverMoreThanAllowed) {
  Starting of;
  of.first.begin(100);
  of.first.begin(300);
  EXPECT_EQ(of.first.lasted(500), 400) << "since the first one";
  of.first.one_more(500);
  EXPECT_EQ(of.first.most(4, 0), 2);
  EXPECT_EQ(of.first.lasted(700), 200);
  for (int i = 0; i < 5; ++i) of.first.one_more(800);
  EXPECT_EQ(of.first.most(4, 0), 4);
  EXPECT_EQ(of.first.most(2, 0), 2) << "the knob has been turned down";
}

TEST(FirstCalls, AreAsManyAsAllowedWhereTheOpHasAHint) {
  Starting of;
  EXPECT_FALSE(of.first.note_hint(true)) << "nobody has asked for more calls";
  EXPECT_EQ(of.first.most(4, 0), 4);
  EXPECT_FALSE(of.first.note_hint(false));
  EXPECT_EQ(of.first.most(4, 0), 1) << "the next one cannot be foretold";
  EXPECT_TRUE(of.first.note_hint(true)) << "others waited for that";
}

TEST(FirstCalls, DoNotMatterWhereOneCallRunsAtATimeOrNothingIsReserved) {
  Starting one;
  EXPECT_EQ(one.first.most(1, 0), 1);
  EXPECT_FALSE(one.signs.is_starting);
  Starting passes_on(range(10).filter([](std::int64_t) { return true; }).node());
  ASSERT_FALSE(passes_on.traits.begins_with_few);
  EXPECT_EQ(passes_on.first.most(4, 0), 4);
  EXPECT_FALSE(passes_on.signs.is_starting);
}

TEST(FirstCalls, AskAnOpForItsHintUntilItHasHadNoneForSixteenInARow) {
  Starting of;
  for (int i = 0; i < 14; ++i) of.first.note_hint(false);
  EXPECT_TRUE(of.first.may_have_hint());
  of.first.note_hint(true);
  for (int i = 0; i < 15; ++i) of.first.note_hint(false);
  EXPECT_TRUE(of.first.may_have_hint()) << "one was in between";
  of.first.note_hint(false);
  EXPECT_FALSE(of.first.may_have_hint());
}

}  // namespace
}  // namespace penstock::exec
