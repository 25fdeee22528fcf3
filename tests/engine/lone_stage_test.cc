// What a stage does when its surroundings say no.
#include "tests/engine/lone_stage.h"

#include <optional>
#include <span>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Calls that wait may begin while others do, so the buffer's number holds to the letter.
TEST(LoneStage, GivesNoCreditsUntilALoweredBufferIsUsedUp) {
  LoneStage lone(range(100).map(plus_one, 1, {.blocks = true}).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.stage.set(KnobKind::buffer, 10);
  ASSERT_EQ(lone.host.notes.credits, 10);
  lone.stage.set(KnobKind::buffer, 2);
  lone.feed(10);
  lone.run_tokens();
  EXPECT_EQ(lone.host.notes.credits, 10 + 2) << "what was promised before, and one new buffer";
}

// Its lists may be half changed, and other threads find its lock free before the run has been stopped.
TEST(LoneStage, BeginsNothingMoreOnceItHasGivenUp) {
  LoneStage lone(range(100).map(kilobyte, 2).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.feed(1);
  lone.run_tokens();
  lone.host.notes.has_no_memory = true;
  lone.host.before_the_stop = [&lone] {
    lone.host.notes.has_no_memory = false;
    lone.feed(1);
  };
  lone.feed(1);
  EXPECT_EQ(lone.host.given_up, 1);
  EXPECT_EQ(lone.host.notes.launched, 1) << "the token of before";
}

// What is ready for the consumer may be all that holds the memory.
TEST(LoneStage, WakesTheConsumerWhenItFindsNoMemory) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit);
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

// Others have taken it since the stage asked for a thread.
TEST(LoneStage, WakesTheConsumerWhenAThreadFindsNoMemory) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.feed(1);
  lone.run_tokens();
  lone.feed(1);
  lone.host.memory().charge(kLimit);
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

TEST(LoneStage, TriesACallAgainNotBeforeThereIsRoomForItsHintAndItsRequest) {
  int calls = 0;
  const auto asking = [&calls](const std::int64_t& value, Context& context) {
    if (++calls < 10) context.reserve(kLimit / 2);
    return value;
  };
  const auto hint = [](std::int64_t) { return std::size_t{1000}; };
  LoneStage lone(range(100).map(asking, 1, {.bytes_hint = hint}).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.host.memory().charge(kLimit * 3 / 4);
  lone.feed(1);
  lone.run_tokens();
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
}

// What a function with a state gives the second time is something else.
TEST(LoneStage, TriesNoCallAgainWhoseFunctionHasAState) {
  int calls = 0;
  const auto asking = [&calls, n = std::int64_t{0}](const std::int64_t&, Context& context) mutable {
    ++calls;
    context.reserve(kLimit / 2);
    return n++;
  };
  LoneStage lone(range(100).map(asking, 1).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.host.memory().charge(kLimit - 1000);
  lone.feed(1);
  lone.run_tokens();
  lone.host.memory().release(kLimit - 1000);
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(lone.snapshot().completed, 1);
}

// As by a spare thread, where all CPU permits are with calls that wait (Relief).
TEST(LoneStage, IsNotHelpedBeyondItsParallelism) {
  for (const int parallelism : {1, 2}) {
    exec::Stage* stage = nullptr;
    std::vector<bool> helped;
    const auto asking = [&](std::int64_t value) {
      if (value == 1) helped.push_back(stage->help());
      return value;
    };
    LoneStage lone(range(100).map(asking, parallelism).node(), 1, kLimit);
    stage = &lone.stage;
    lone.stage.add_credits(100);
    for (const std::int64_t count : {1, 2}) {  // the first one alone, for nobody knows what its result will hold
      lone.feed(count);
      lone.stage.run_token(false);
    }
    EXPECT_EQ(helped, std::vector{parallelism > 1});
  }
}

// The second call ends while the first one goes on, of which nobody knew what it would hold.
TEST(LoneStage, ReservesForCallsThatBeganBeforeTheFirstResult) {
  constexpr std::int64_t kEach = 10'000;
  std::int64_t used = 0;
  LoneStage* self = nullptr;
  const auto make = [&](std::int64_t value) {
    if (value == 0) {
      self->host.let_pass(2 * kSecond);
      self->stage.look_after_calls();
      if (self->stage.help()) used = self->host.memory().used();
    }
    return std::string(kEach, 'x');
  };
  LoneStage lone(range(100).map(make, 2).node(), 1, kLimit);
  self = &lone;
  lone.stage.add_credits(100);
  lone.feed(2);
  lone.run_tokens();
  EXPECT_GE(used, 2 * kEach);
  EXPECT_EQ(lone.host.memory().used(), used) << "it held what was reserved for it";
}

// It knows the size of each second result.
class HalfForetold final : public ElementwiseOp {
 public:
  std::string name() const override { return "half_foretold"; }
  Flow flow(const Flow& input) const override { return input; }
  std::optional<std::size_t> bytes_hint(const Element& input) const override {
    asked_last = input.get<std::int64_t>();
    return asked_last % 2 == 0 ? std::nullopt : std::optional(std::size_t{8});
  }
  void run(std::span<Slot>, Context&) const override {}

  mutable std::int64_t asked_last = -1;
};

TEST(LoneStage, AsksForASizeAsLongAsOneIsToldNowAndThen) {
  const auto op = std::make_shared<HalfForetold>();
  LoneStage lone(range(100).then<std::int64_t>(op).node(), 1, kLimit);
  lone.stage.add_credits(100);
  for (std::int64_t i = 0; i < 100; ++i) {
    lone.feed(1);
    lone.run_tokens();
    ASSERT_EQ(op->asked_last, i);
  }
}

// Its result has no room to go to, and nothing else is to be done.
TEST(LoneStage, OffersTheMemoryThatACallHasFreed) {
  LoneStage lone(range(100).map(plus_one, 1).node(), 1, kLimit);
  lone.stage.set(KnobKind::buffer, 10);
  lone.feed(1, 1000);
  lone.run_tokens();
  ASSERT_LT(lone.host.memory().used(), 1000);
  EXPECT_EQ(lone.host.used_when_offered, lone.host.memory().used());
}

// After some 50 us; the call that is under way then ends first.
TEST(LoneStage, GivesItsCpuPermitBackSoonWhereItIsWanted) {
  NotingHost* host = nullptr;
  const auto slow = [&host](std::int64_t value) {
    host->let_pass(30'000);
    return value;
  };
  LoneStage lone(range(100).map(slow, 1).node(), 1, kLimit);
  host = &lone.host;
  lone.stage.add_credits(100);
  lone.feed(20);
  lone.host.is_permit_wanted = true;
  lone.stage.run_token(false);
  EXPECT_GE(lone.snapshot().completed, 2);
  EXPECT_LE(lone.snapshot().completed, 4);
  lone.host.is_permit_wanted = false;
  lone.stage.run_token(false);
  EXPECT_EQ(lone.snapshot().completed, 20) << "where nobody wants it, it goes on";
}

// One whose calls follow each other would keep its thread for ever.
TEST(LoneStage, GivesItsThreadBackSoonWhereOthersWaitForOne) {
  NotingHost* host = nullptr;
  const auto slow = [&host](std::int64_t value) {
    host->let_pass(30'000);
    return value;
  };
  LoneStage lone(range(100).map(slow, 1, {.blocks = true}).node(), 1, kLimit);
  host = &lone.host;
  lone.stage.add_credits(100);
  lone.feed(20);
  lone.host.notes.is_pool_wanted = true;
  lone.stage.run_token(true);
  EXPECT_GE(lone.snapshot().completed, 2);
  EXPECT_LE(lone.snapshot().completed, 4);
  lone.host.notes.is_pool_wanted = false;
  lone.stage.run_token(true);
  EXPECT_EQ(lone.snapshot().completed, 20) << "where nobody wants it, it goes on";
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

}  // namespace
}  // namespace penstock
