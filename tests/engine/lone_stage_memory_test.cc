// What a stage reserves for its calls, and what it does where there is no memory.
#include "tests/engine/lone_stage.h"

#include <algorithm>
#include <numeric>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

TEST(LoneStage, LeavesToStagesBehindWhatTheyHaveClaimed) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit, 1);
  lone.feed(1);
  lone.run_tokens();
  lone.host.behind.claim = kLimit - lone.host.memory().used();
  lone.feed(1);
  lone.run_tokens();
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  EXPECT_EQ(lone.snapshot().completed, 1);
  lone.host.behind.claim = 0;
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(lone.snapshot().completed, 2);
}

// The limit has been passed, so it is careful; and there is room for one part only.
TEST(LoneStage, ReservesForAllPartsOfAResult) {
  constexpr std::int64_t kPart = 10'000;
  const auto parts = [](std::int64_t) { return std::vector<std::string>(10, std::string(kPart, 'x')); };
  LoneStage lone(range(100).flat_map(parts, 1).node(), 1, kLimit);
  lone.stage.add_credits(1000);
  lone.host.memory().charge(kLimit - kPart);
  lone.feed(1);
  lone.run_tokens();
  ASSERT_TRUE(lone.host.memory().was_overshot());
  lone.host.memory().release(lone.host.memory().used() - kLimit + 2 * kPart);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  EXPECT_EQ(lone.snapshot().completed, 1);
}

// A hint says what the values hold; each of them will need a slot besides. There is room for what the first one needed,
// and for what is hinted.
TEST(LoneStage, ReservesForTheSlotsOfAllResultsThatAHintIsAbout) {
  constexpr std::int64_t kMany = 1000, kValues = kMany * 8, kHint = 2 * kMany * std::int64_t{sizeof(Slot)};
  const auto list = [](std::int64_t value) { return std::vector<std::int64_t>(kMany, value); };
  const auto hint = [](std::int64_t value) { return static_cast<std::size_t>(value == 0 ? kValues : kHint); };
  LoneStage lone(range(100).flat_map(list, 1, {.bytes_hint = hint}).node(), 1, kLimit);
  lone.stage.add_credits(10 * kMany);
  lone.feed(1);
  lone.run_tokens();
  lone.host.memory().charge(kLimit - lone.host.memory().used() - kHint - kMany * std::int64_t{sizeof(Slot)} / 2);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_TRUE(lone.snapshot().waits_for_memory);
  EXPECT_EQ(lone.snapshot().completed, 1);
}

// What it owns nobody can see.
struct Owner {
  std::shared_ptr<std::string> owned;
};

// Some of them leave in the middle of the call: what is left is believed to hold no more than its own share of the
// hint.
TEST(LoneStage, BelievesTheHintOfEachResultWhereSomeLeaveBeforeTheCallEnds) {
  constexpr std::int64_t kHint = 1000;
  LoneStage* self = nullptr;
  bool has_left = false;
  const auto make = [&](std::int64_t value) {
    if (value == 3) has_left = self->stage.look_after_calls();
    return Owner();
  };
  LoneStage lone(range(100).map(make, 1, {.bytes_hint = [](std::int64_t) { return std::size_t{kHint}; }}).node(), 1,
                 kLimit);
  self = &lone;
  lone.stage.add_credits(100);
  lone.feed_together(1);
  lone.run_tokens();
  lone.feed_together(4);
  lone.run_tokens();
  ASSERT_TRUE(has_left);
  EXPECT_EQ(lone.host.memory().used(), 5 * (kHint + std::int64_t{sizeof(Slot)}));
}

// Of which some have no size.
struct PerhapsSized {
  bool has_size = true;
};
std::size_t bytes_of(const PerhapsSized& measured) {
  return measured.has_size ? 0 : throw std::runtime_error("no size");
}

TEST(LoneStage, NamesTheElementOfWhoseListALaterPartFails) {
  const auto list = [](std::int64_t value) {
    std::vector<PerhapsSized> all(value == 2 ? 3000 : 1);
    if (value == 2) all[2500].has_size = false;
    return all;
  };
  LoneStage lone(range(100).flat_map(list, 1).node(), 1, 16 * kLimit);
  lone.stage.add_credits(10'000);
  lone.feed_together(1);
  lone.run_tokens();
  lone.feed_together(3);
  lone.run_tokens();
  ASSERT_EQ(lone.host.notes.errors.size(), 1u);
  EXPECT_EQ(lone.host.notes.errors.front().place().ordinal, 2);
}

// Others have taken it since the stage asked for a thread.
TEST(LoneStage, ClaimsWhatAThreadOfItWasRefused) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit);
  lone.feed(1);
  lone.run_tokens();
  lone.feed(1);
  lone.host.memory().charge(kLimit);
  lone.run_tokens();
  EXPECT_GE(lone.stage.signs().claim.load(), 1000);
}

TEST(LoneStage, ClaimsWhatItWasRefusedUntilItHasIt) {
  LoneStage lone(range(100).map(kilobyte, 1).node(), 1, kLimit);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_EQ(lone.stage.signs().claim.load(), 0);
  lone.host.memory().charge(kLimit);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_GE(lone.stage.signs().claim.load(), 1000);
  lone.host.memory().release(kLimit);
  ASSERT_TRUE(lone.host.memory().take_wake_up());
  const int offered = lone.host.memory_offered;
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(lone.stage.signs().claim.load(), 0);
  EXPECT_GT(lone.host.memory_offered, offered);
  EXPECT_TRUE(lone.host.memory().take_wake_up()) << "for those that were refused on account of the claim";
}

// It has made plans for many while there was room.
TEST(LoneStage, ThatIsASourceMakesOneElementWhereThereIsNoMemory) {
  LoneStage lone(from_vector(std::vector(100, std::string(kLimit / 200, 'x'))).node(), 0, kLimit);
  lone.stage.add_credits(1);
  lone.run_tokens();
  lone.stage.add_credits(20);
  ASSERT_GT(lone.snapshot().in_window, 1);
  lone.host.memory().charge(kLimit - lone.host.memory().used());
  lone.host.at_outlet = 0;
  lone.run_tokens();
  EXPECT_EQ(lone.host.notes.sent, std::vector<std::size_t>(21, 1));
  EXPECT_EQ(lone.snapshot().in_window, 0);
}

// There is no room for all of them, nor for one.
TEST(LoneStage, ReservesForTheOneElementThatItBeginsWithoutRoom) {
  constexpr std::int64_t kEach = 10'000, kRoom = kEach / 2;
  std::vector<std::int64_t> used;
  LoneStage* stage = nullptr;
  const auto make = [&](std::int64_t) { return used.push_back(stage->host.memory().used()), std::string(kEach, 'x'); };
  LoneStage lone(range(100).map(make, 1, {.bytes_hint = [](std::int64_t) { return std::size_t{kEach}; }}).node(), 1,
                 kLimit);
  stage = &lone;
  lone.stage.add_credits(1000);
  lone.feed_together(1);
  lone.run_tokens();
  lone.host.memory().charge(kLimit - lone.host.memory().used() - kRoom);
  lone.host.at_outlet = 0;
  lone.feed_together(5);
  ASSERT_GT(lone.snapshot().in_window, 1) << "in one group";
  lone.run_tokens();
  ASSERT_EQ(used.size(), 6u);
  EXPECT_LT(used[1], kLimit - kRoom + 3 * kEach / 2);
}

// To begin each of them by itself would cost more than they hold.
TEST(LoneStage, MakesSomeSmallElementsWhereThereIsNoMemory) {
  LoneStage lone(from_vector(std::vector(100, std::string(1000, 'x'))).node(), 0, kLimit);
  lone.stage.add_credits(1);
  lone.run_tokens();
  lone.stage.add_credits(20);
  lone.host.memory().charge(kLimit - lone.host.memory().used());
  lone.host.at_outlet = 0;
  lone.run_tokens();
  const auto& sent = lone.host.notes.sent;
  EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), std::size_t{0}), 21u);
  EXPECT_GT(*std::ranges::max_element(sent), 1u);
  EXPECT_LE(*std::ranges::max_element(sent) * 1000, std::size_t{kLimit / 256});
}

// One more element has room: one thread is enough, however many calls are allowed.
TEST(LoneStage, WakesOneThreadForTheMemoryOfOneCall) {
  constexpr std::int64_t kEach = kLimit / 16;
  const auto make = [](std::int64_t) { return std::string(kEach, 'x'); };
  const auto hint = [](std::int64_t) { return std::size_t{kEach}; };
  for (const bool blocks : {false, true}) {
    LoneStage lone(range(1000).map(make, 128, {.blocks = blocks, .bytes_hint = hint}).node(), 1, kLimit);
    lone.stage.add_credits(1000);
    lone.feed(500);
    lone.run_tokens();
    ASSERT_TRUE(lone.snapshot().waits_for_memory);
    const std::size_t made = lone.host.notes.sent.size();
    const std::int64_t launched = lone.host.notes.launched;
    for (int freed = 1; freed <= 10; ++freed) {
      lone.host.memory().release(kEach);
      lone.stage.memory_is_free();
      lone.run_tokens();
      EXPECT_EQ(lone.host.notes.sent.size(), made + static_cast<std::size_t>(freed)) << "and that one is used";
    }
    EXPECT_EQ(lone.host.notes.launched - launched, 10);
  }
}

// Room for several comes at once: all of it is used, by threads side by side.
TEST(LoneStage, WakesAsManyThreadsAsTheMemoryIsFor) {
  constexpr std::int64_t kEach = kLimit / 16;
  const auto make = [](std::int64_t) { return std::string(kEach, 'x'); };
  const auto hint = [](std::int64_t) { return std::size_t{kEach}; };
  LoneStage lone(range(1000).map(make, 128, {.bytes_hint = hint}).node(), 1, kLimit);
  lone.stage.add_credits(1000);
  lone.feed(500);
  lone.run_tokens();
  const std::int64_t launched = lone.host.notes.launched;
  lone.host.memory().release(8 * kEach);
  lone.stage.memory_is_free();
  EXPECT_GE(lone.host.notes.launched - launched, 7);
  EXPECT_LE(lone.host.notes.launched - launched, 8);
}

// Its memory is one piece. With the share of those that have left off the books, another list was made while three lay
// in memory.
TEST(LoneStage, KeepsAListOnTheBooksUntilItsLastResultHasASlot) {
  constexpr std::int64_t many = 1'000'000, list = many * std::int64_t{sizeof(std::int64_t)};
  LoneStage lone(range(9).flat_map([](std::int64_t i) { return std::vector<std::int64_t>(many, i); }, 1).node(), 1,
                 64 << 20);
  const auto sent = [&lone] {
    return std::accumulate(lone.host.notes.sent.begin(), lone.host.notes.sent.end(), std::int64_t{0});
  };
  lone.stage.add_credits(many * 9 / 10);
  lone.feed(1);
  lone.run_tokens();
  const std::int64_t most = sent(), used = lone.host.memory().used();
  lone.stage.add_credits(many);
  lone.run_tokens();
  ASSERT_EQ(sent(), many);
  const std::int64_t each = lone.host.memory().used() / many;
  EXPECT_EQ(most, many * 9 / 10);
  EXPECT_GE(used - most * each, list);
  EXPECT_LT(lone.host.memory().used() - many * each, list / 100) << "and no longer";
}

}  // namespace
}  // namespace penstock
