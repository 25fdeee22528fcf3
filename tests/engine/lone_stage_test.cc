// What a stage does when its surroundings say no.
#include "tests/engine/lone_stage.h"

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

constexpr std::int64_t kLimit = 1 << 20;

// Calls that wait may begin while others do, so the buffer's number holds to the letter.
TEST(LoneStage, GivesNoCreditsUntilALoweredBufferIsUsedUp) {
  LoneStage lone(range(100).map(plus_one, 1, {.blocks = true}).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.stage.set_buffer(10);
  ASSERT_EQ(lone.host.notes.credits, 10);
  lone.stage.set_buffer(2);
  lone.feed(10);
  lone.run_tokens();
  EXPECT_EQ(lone.host.notes.credits, 10 + 2) << "what was promised before, and one new buffer";
}

// What is ready for the consumer may be all that holds the memory.
TEST(LoneStage, WakesTheConsumerWhenItFindsNoMemory) {
  const auto text = [](std::int64_t value) { return std::string(1000, static_cast<char>(value)); };
  LoneStage lone(range(100).map(text, 1).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_EQ(lone.host.consumer_woken, 0);
  lone.host.memory().charge(kLimit);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  EXPECT_EQ(lone.host.consumer_woken, 1);
}

TEST(LoneStage, TriesACallAgainNotBeforeItsRequestCanBeMet) {
  int calls = 0;
  const auto asking = [&calls](const std::int64_t& value, Context& context) {
    if (++calls < 10) context.reserve(kLimit / 2);
    return value;
  };
  LoneStage lone(range(100).map(asking, 1).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.host.memory().charge(kLimit * 3 / 4);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  lone.host.memory().release(kLimit / 2);
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(lone.host.notes.sent, std::vector<std::size_t>{1});
}

TEST(LoneStage, GivesBackWhatACallHadReservedThatIsBrokenOff) {
  const auto asking = [](const std::int64_t& value, Context& context) {
    context.reserve(kLimit / 8);
    context.reserve(kLimit);
    return value;
  };
  LoneStage lone(range(100).map(asking, 1).node(), 1, kLimit);
  lone.host.memory().charge(kLimit / 2);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  EXPECT_EQ(lone.host.memory().used(), kLimit / 2);
}

TEST(LoneStage, TakesElementsOfAPassThatIsCutOffTheBooks) {
  LoneStage lone(range(100).map(plus_one, 1).node(), 1, kLimit);
  lone.feed(5, 1000);
  ASSERT_EQ(lone.host.memory().used(), 5000);
  lone.stage.cancel_pass(0, 0);
  lone.run_tokens();
  EXPECT_EQ(lone.host.memory().used(), 0);
  EXPECT_EQ(lone.snapshot().completed, 0);
}

std::string kilobyte(std::int64_t value) { return std::string(1000, static_cast<char>(value)); }

TEST(LoneStage, LeavesToStagesBehindWhatTheyHaveClaimed) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit);
  lone.feed(1);
  lone.run_tokens();
  lone.host.claimed_behind = kLimit - lone.host.memory().used();
  lone.feed(1);
  lone.run_tokens();
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  EXPECT_EQ(lone.snapshot().completed, 1);
  lone.host.claimed_behind = 0;
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(lone.snapshot().completed, 2);
}

TEST(LoneStage, ClaimsWhatItWasRefusedUntilItHasIt) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_EQ(lone.stage.memory_claim(), 0);
  lone.host.memory().charge(kLimit);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_GE(lone.stage.memory_claim(), 1000);
  lone.host.memory().release(kLimit);
  ASSERT_TRUE(lone.host.memory().take_wake_up());
  const int offered = lone.host.memory_offered;
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(lone.stage.memory_claim(), 0);
  EXPECT_GT(lone.host.memory_offered, offered);
  EXPECT_TRUE(lone.host.memory().take_wake_up()) << "for those that were refused on account of the claim";
}

// It has made plans for many while there was room.
TEST(LoneStage, ThatIsASourceMakesOneElementWhereThereIsNoMemory) {
  LoneStage lone(from_vector(std::vector(100, std::string(1000, 'x'))).node(), 0, kLimit);
  lone.stage.add_credits(1);
  lone.run_tokens();
  lone.stage.add_credits(20);
  ASSERT_GT(lone.snapshot().in_window, 1);
  lone.host.memory().charge(kLimit - lone.host.memory().used());
  lone.host.behind_is_empty = true;
  lone.run_tokens();
  EXPECT_EQ(lone.host.notes.sent, std::vector<std::size_t>(21, 1));
  EXPECT_EQ(lone.snapshot().in_window, 0);
}

}  // namespace
}  // namespace penstock
