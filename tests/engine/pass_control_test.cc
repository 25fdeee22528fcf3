// Where the source is in its passes, and who cuts them short.
#include "lib/exec/pass_control.h"

#include <vector>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "tests/engine/support.h"
#include "tests/support/pumped.h"

namespace penstock::exec {
namespace {

using testing::eventually;

// The source looks for a cut between two elements, on a thread of its own; ThreadSanitizer watches.
TEST(PassControl, TellsTheSourceOfEachCutThatAnotherThreadAsksFor) {
  PassControl passes({-1}, 0, 1);  // repeated for ever
  std::atomic<std::int64_t> begun{-1};
  const std::jthread consumer([&] {
    for (std::uint32_t sequence = 0; sequence < 20; ++sequence) {
      if (!eventually([&] { return begun == sequence; })) return;
      passes.end(0, sequence);
    }
  });
  for (std::uint32_t sequence = 0; sequence < 20; ++sequence) {
    PassControl::Pass pass;
    ASSERT_TRUE(passes.current(pass));
    EXPECT_EQ(pass.stamp.sequence, sequence);
    EXPECT_FALSE(passes.cut_requested());
    begun = sequence;
    ASSERT_TRUE(eventually([&] { return passes.cut_requested(); }));
    EXPECT_EQ(passes.close().level(), 0);
  }
}

std::string text_of(const Slot& mark) {
  return std::to_string(mark.stamp.sequence) + " in pass " + std::to_string(mark.stamp.pass) + " of epoch " +
         std::to_string(mark.stamp.epoch) + ", level " + std::to_string(mark.level());
}

bool is_over(PassControl& passes) {
  PassControl::Pass pass;
  return passes.current(pass) && pass.over;
}

TEST(PassControl, OwesTheSourceTheMarkOfAPassThatWasClosedEarly) {
  PassControl passes({3}, 0, 1);
  PassControl::Pass pass;
  ASSERT_TRUE(passes.current(pass));
  const std::stop_token token = passes.stop_token();
  EXPECT_EQ(text_of(*passes.close_early(0, 0)), "0 in pass 0 of epoch 0, level 0");
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(passes.cut_requested());
  EXPECT_TRUE(is_over(passes));
  EXPECT_EQ(text_of(passes.close()), "0 in pass 0 of epoch 0, level 0");
  EXPECT_FALSE(passes.cut_requested());
  EXPECT_FALSE(passes.stop_token().stop_requested());
  ASSERT_TRUE(passes.current(pass));
  EXPECT_TRUE(pass.fresh);
  EXPECT_EQ(pass.stamp.sequence, 1u);
}

// The consumer has left the epoch, and the source has not seen that yet when a take() has enough of the pass.
TEST(PassControl, ClosesEarlyAllThatAPendingCutEnds) {
  PassControl passes({3}, 0, 1);
  PassControl::Pass pass;
  ASSERT_TRUE(passes.current(pass));
  passes.halt();
  EXPECT_EQ(passes.close_early(0, 0)->level(), 1) << "the epoch, and not its first pass alone";
}

TEST(PassControl, GivesTheMarkThatHasEndedThePassAlready) {
  PassControl passes({2, 2}, 0, 1);
  for (int i = 0; i < 3; ++i) passes.close();
  EXPECT_EQ(text_of(*passes.close_early(0, 1)), "1 in pass 1 of epoch 0, level 1");
  EXPECT_EQ(passes.close_early(1, 0)->stamp.sequence, 1u) << "the first that ends both rounds";
  EXPECT_FALSE(is_over(passes)) << "the source has sent it";
  EXPECT_EQ(passes.close().level(), 2);
}

TEST(PassControl, OwesSeveralMarksInTheirOrder) {
  PassControl passes({2, 2}, 0, 1);
  passes.close_early(0, 0);
  EXPECT_EQ(passes.close_early(1, 0)->level(), 1)
      << "an outer one that has enough, too, while the source is still in pass 0";
  EXPECT_EQ(passes.close_early(2, 0)->level(), 2);
  for (std::uint8_t level = 0; level <= 2; ++level) {
    EXPECT_FALSE(passes.idle());
    EXPECT_TRUE(is_over(passes));
    const Slot mark = passes.close();
    EXPECT_EQ(mark.level(), level);
    EXPECT_EQ(mark.stamp.sequence, level);
  }
  EXPECT_TRUE(passes.idle());
}

// An op that is slow to find that it has enough, when one behind it had enough long before.
TEST(PassControl, HasNoMarkForAPassThatTheConsumerIsThroughWith) {
  PassControl passes({2}, 0, 9);
  passes.close_early(1, 0);
  passes.close();
  passes.close();  // the next epoch's first pass
  passes.forget_until(0);
  EXPECT_FALSE(passes.close_early(0, 0).has_value());
  EXPECT_FALSE(passes.close_early(1, 0).has_value()) << "and no other epoch is cut short for it";
  PassControl::Pass pass;
  ASSERT_TRUE(passes.current(pass));
  EXPECT_EQ(pass.stamp.sequence, 2u);
  EXPECT_FALSE(pass.over);
}

// Whoever ends a pass tells its listeners late, when the source may be in the next one.
TEST(PassControl, TellsNobodyToStopWhoIsInTheNextPass) {
  constexpr std::uint64_t kPasses = 5000;
  PassControl passes({-1}, 0, 1);
  std::atomic<std::uint64_t> in_pass{0}, has_ended{0};
  const std::jthread ending([&] {
    for (std::uint64_t sequence = 0; sequence < kPasses; ++sequence) {
      while (in_pass.load() < sequence) std::this_thread::yield();
      passes.close_early(0, sequence);
      has_ended = sequence + 1;
    }
  });
  std::uint64_t stopped_early = 0;
  for (std::uint64_t sequence = 0; sequence < kPasses; ++sequence) {
    while (!is_over(passes)) std::this_thread::yield();
    passes.close();
    const std::stop_token next = passes.stop_token();
    while (has_ended.load() <= sequence) std::this_thread::yield();
    stopped_early += next.stop_requested();
    in_pass = sequence + 1;
  }
  EXPECT_EQ(stopped_early, 0u);
}

TEST(PassControl, StaysStoppedWhenTheRunIs) {
  PassControl passes({}, 0, 2);
  passes.stop();
  passes.close_early(0, 0);
  passes.close();
  EXPECT_TRUE(passes.stop_token().stop_requested());
}

// A repeat over little data passes 2^32 within hours.
TEST(PassControl, CountsOnBeyondFourThousandMillionPasses) {
  constexpr std::uint64_t kBorder = std::uint64_t{1} << 32;
  PassControl passes({-1}, 0, 1, kBorder - 2);
  for (std::uint64_t sequence = kBorder - 2; sequence < kBorder + 2; ++sequence) {
    PassControl::Pass pass;
    ASSERT_TRUE(passes.current(pass));
    EXPECT_EQ(pass.stamp.sequence, sequence);
    passes.end(0, sequence - 1);
    EXPECT_FALSE(passes.cut_requested()) << "outdated";
    passes.end(0, sequence);
    EXPECT_TRUE(passes.cut_requested());
    EXPECT_EQ(passes.close().stamp.sequence, sequence);
  }
}

// Each pass is cut by the take, and what was read ahead of it let go, by its number.
TEST(PassControl, PassesAreCutRightBeyondThatNumber) {
  const auto plan = compile(range(10).map(testing::plus_one).map(testing::plus_one).take(2).repeat(6).node());
  EngineSettings settings;
  settings.memory_bytes = std::int64_t{1} << 30;
  settings.first_sequence = (std::uint64_t{1} << 32) - 3;
  const auto engine = Engine::make(plan, settings, testing::first_come());
  std::vector<std::int64_t> values;
  for (;;) {
    Slot slot;
    engine->next(slot);
    if (slot.kind() != Slot::Kind::pass_end) {
      values.push_back(slot.take<std::int64_t>());
    } else if (slot.level() == 1) {
      break;
    }
  }
  engine->shut_down();
  EXPECT_EQ(values, (std::vector<std::int64_t>{2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3}));
}

}  // namespace
}  // namespace penstock::exec
