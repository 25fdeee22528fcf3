// Tokens, and how many calls may run before anybody knows what their results hold.
#include "lib/exec/tokens.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

void expect_sound(const Tokens& tokens) {
  EXPECT_LE(tokens.detached, tokens.running);
  EXPECT_LE(tokens.with_permit, tokens.out);
  EXPECT_GE(tokens.idle(), 0);
}

TEST(Tokens, KnowWhichTokensAreStillToTakeAGroup) {
  Tokens tokens;
  for (int i = 0; i < 3; ++i) tokens.hand_out(true);
  EXPECT_EQ(tokens.idle(), 3);
  tokens.running = 2;
  EXPECT_EQ(tokens.idle(), 1);
  tokens.detached = 1;  // its token goes on
  EXPECT_EQ(tokens.idle(), 2);
  EXPECT_EQ(tokens.calls(), 4) << "three tokens, and a call that none of them has";
  expect_sound(tokens);
}

TEST(Tokens, GiveACpuPermitBackWithEachTokenThatHasOne) {
  Tokens tokens;
  tokens.hand_out(true);
  tokens.hand_out(true);
  EXPECT_EQ(tokens.with_permit, 2);
  EXPECT_TRUE(tokens.take_back(false));
  EXPECT_TRUE(tokens.take_back(false));
  EXPECT_EQ(tokens.with_permit, 0);
  EXPECT_EQ(tokens.out, 0);
}

// The stage's placement is changed while its tokens are out.
TEST(Tokens, HaveNoMoreCpuPermitsThanTokensWhereverTheStageRuns) {
  Tokens tokens;
  tokens.hand_out(true);
  tokens.with_permit = 0;  // it goes to the pool, and the token on without a permit
  tokens.hand_out(false);
  tokens.hand_out(true);  // it is back
  expect_sound(tokens);
  EXPECT_FALSE(tokens.take_back(true)) << "one of the pool's";
  expect_sound(tokens);
  EXPECT_TRUE(tokens.take_back(false)) << "whichever of the two: there is one permit";
  expect_sound(tokens);
  EXPECT_FALSE(tokens.take_back(false)) << "it ends without";
  EXPECT_EQ(tokens.out, 0);
  EXPECT_EQ(tokens.with_permit, 0);
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

TEST(FirstCalls, AreAsManyAsAllowedWhereTheTypeTellsTheSize) {
  Starting of(mapped_to_numbers());
  EXPECT_EQ(of.first.most(4, 0), 4);
  EXPECT_FALSE(of.signs.is_starting);
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
