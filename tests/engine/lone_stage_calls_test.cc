// What a stage sees of its calls that are under way: whether they wait, and what that means for their CPU permits.
#include <atomic>
#include <latch>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "lib/core/scheduler_file.h"
#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// A map with one call under way on a thread of its own; looks at it until one says how it is.
class WatchedCall {
 public:
  WatchedCall(LoneStage& lone, std::atomic<bool>& has_begun) : lone_(lone), thread_([&lone] { lone.run_tokens(); }) {
    EXPECT_TRUE(eventually([&] { return has_begun.load(); }));
  }
  // False: no look ever did.
  bool is_found(bool asleep) {
    return eventually([&] {
      const StageSnapshot before = lone_.snapshot();
      lone_.stage.watch_calls();
      const StageSnapshot now = lone_.snapshot();
      return now.looks == before.looks + 1 && (now.looks_asleep > before.looks_asleep) == asleep;
    });
  }

 private:
  LoneStage& lone_;
  std::jthread thread_;
};

constexpr std::int64_t kLong = 2'000'000;  // ns

TEST(LoneStage, SeesThatACallUnderWaySleeps) {
  std::binary_semaphore end(0);
  std::atomic<bool> has_begun{false};
  LoneStage lone(range(9).map([&](std::int64_t value) { return has_begun = true, end.acquire(), value; }, 1).node(), 1,
                 kLimit);
  lone.stage.add_credits(9);
  lone.stage.watch_calls();
  EXPECT_EQ(lone.snapshot().looks, 0) << "no call is under way";
  lone.feed(1);
  WatchedCall call(lone, has_begun);
  EXPECT_TRUE(call.is_found(false)) << "it has just begun";
  lone.host.let_pass(kLong);
  EXPECT_TRUE(call.is_found(true));
  end.release();
}

// However long: once is once.
TEST(LoneStage, SeesThatACallSleptOnce) {
  constexpr std::int64_t kTime = 3'600'000'000'000;  // ns: more than any machine leaves a thread waiting for a CPU
  LoneStage* self = nullptr;
  const auto nap = [&self](std::int64_t value) {
    return std::this_thread::sleep_for(1ms), self->host.let_pass(kTime), value;
  };
  LoneStage lone(range(9).map(nap, 1).node(), 1, kLimit);
  self = &lone;
  lone.stage.add_credits(9);
  lone.feed(1);
  lone.run_tokens();
  ASSERT_EQ(lone.snapshot().samples, 1);
  EXPECT_GT(lone.snapshot().sampled_waiting_ns, kTime / 2);
}

TEST(LoneStage, SeesThatACallUnderWayComputes) {
  std::atomic<bool> end{false}, has_begun{false};
  const auto compute = [&](std::int64_t value) {
    for (has_begun = true; !end;) {
    }
    return value;
  };
  LoneStage lone(range(9).map(compute, 1).node(), 1, kLimit);
  lone.stage.add_credits(9);
  lone.feed(1);
  WatchedCall call(lone, has_begun);
  lone.host.let_pass(kLong);
  for (int i = 0; i < 10; ++i) lone.stage.watch_calls();
  EXPECT_EQ(lone.snapshot().looks, 10);
  EXPECT_EQ(lone.snapshot().looks_asleep, 0);
  end = true;
}

// It waits, and what waits for a CPU permit may be what it waits for.
TEST(LoneStage, ThatIsMovedToThePoolGivesUpThePermitsOfItsCallsUnderWay) {
  LoneStage* self = nullptr;
  const auto moved = [&self](std::int64_t value) { return self->stage.set(KnobKind::placement, 1), value; };
  LoneStage lone(range(9).map(moved, 1).node(), 1, kLimit);
  self = &lone;
  lone.stage.add_credits(9);
  lone.feed(1);
  lone.run_tokens();
  EXPECT_EQ(lone.host.permits_given_up, 1);
  EXPECT_EQ(lone.host.ended_without_permit, 1);
  EXPECT_EQ(lone.host.permits_released, 0);
  lone.stage.set(KnobKind::placement, 0);
  lone.stage.set(KnobKind::placement, 1);
  EXPECT_EQ(lone.host.permits_given_up, 1) << "it had none";
}

// Nobody asks where they are to run.
TEST(LoneStage, LooksAtNoCallsWhoseUserHasSaidWhetherTheyWait) {
  LoneStage* self = nullptr;
  const auto look = [&self](std::int64_t value) { return self->stage.watch_calls(), value; };
  for (const auto& [blocks, looks] :
       {std::pair(std::optional<bool>(), 1), {std::optional(false), 0}, {std::optional(true), 0}}) {
    LoneStage lone(range(9).map(look, 1, {.blocks = blocks}).node(), 1, kLimit);
    self = &lone;
    lone.stage.add_credits(9);
    lone.feed(1);
    lone.run_tokens();
    EXPECT_EQ(lone.snapshot().looks, looks);
  }
}

// It computes: 100 ms are no reason to believe that it waits for others.
TEST(LoneStage, BeginsWithOneCall) {
  std::vector<bool> helped;
  LoneStage* self = nullptr;
  const auto asking = [&](std::int64_t value) {
    for (int looks = 0; value == 0 && looks < 3; ++looks) {
      helped.push_back(self->stage.help());
      self->host.let_pass(kSecond / 2);
      self->stage.look_after_calls();
    }
    return std::to_string(value);
  };
  LoneStage lone(range(100).map(asking, 2).node(), 1, kLimit);
  self = &lone;
  lone.stage.add_credits(100);
  lone.feed(2);
  lone.run_tokens();
  EXPECT_EQ(helped, (std::vector{false, false, true}));
}

TEST(LoneStage, LetsOneMoreCallBeginEachTimeThatTheFirstHasSleptForLong) {
  std::atomic<int> first{0};
  std::latch may_end(1);
  LoneStage* self = nullptr;
  const auto helps_later = [&] {
    EXPECT_FALSE(self->stage.help());
    self->host.let_pass(kSecond / 8);
    self->stage.look_after_calls();
    return self->stage.help();
  };
  const auto call = [&](std::int64_t value) {
    if (value == 0) {
      first = this_thread_number();
      may_end.wait();
    } else if (value < 4) {
      EXPECT_TRUE(helps_later()) << value;  // with the next value, while this one goes on
    }
    return std::to_string(value);
  };
  LoneStage lone(range(100).map(call, 8).node(), 1, kLimit);
  self = &lone;
  lone.stage.add_credits(100);
  lone.feed(8);
  std::thread sleeper([&] { lone.stage.run_token(false); });
  EXPECT_TRUE(eventually([&] { return first != 0 && thread_sleeps(first); }));
  EXPECT_TRUE(helps_later());
  may_end.count_down();
  sleeper.join();
}

TEST(LoneStage, LetsOthersBeginAsSoonAsTheFirstHintIsThere) {
  std::int64_t asked_for = 0;
  LoneStage* self = nullptr;
  const auto noting = [&](std::int64_t value) {
    if (value == 0) asked_for = self->host.notes.launched;
    return std::to_string(value);
  };
  LoneStage lone(range(100).map(noting, 2, {.bytes_hint = [](std::int64_t) { return std::size_t{100}; }}).node(), 1,
                 kLimit);
  self = &lone;
  lone.stage.add_credits(100);
  lone.feed(2);
  ASSERT_EQ(lone.host.notes.launched, 1);
  lone.stage.run_token(false);
  EXPECT_EQ(asked_for, 2);
}

// Another run has all of them, perhaps for long.
TEST(LoneStage, NoLongerWaitsForACpuPermitWhereItIsMovedToThePool) {
  LoneStage lone(range(100).map(plus_one, 1).node(), 1, kLimit);
  lone.host.has_permit = false;
  lone.stage.add_credits(100);
  lone.feed(1);
  lone.run_tokens();
  ASSERT_TRUE(lone.snapshot().waits_for_cpu_slot);
  lone.stage.set(KnobKind::placement, 1);
  lone.run_tokens();
  EXPECT_EQ(lone.host.notes.sent, std::vector<std::size_t>{1});
  EXPECT_FALSE(lone.snapshot().waits_for_cpu_slot);
}

// A take() behind it had enough of a pass that is over here.
TEST(LoneStage, LeavesThePassAloneThatIsBehindACancelledOne) {
  LoneStage lone(range(5).map(plus_one, 1).repeat(2).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.feed_behind_the_mark_of(0);
  ASSERT_EQ(lone.host.notes.sent, std::vector<std::size_t>{1}) << "the mark";
  lone.stage.cancel_pass(0, 0);
  lone.run_tokens();
  EXPECT_EQ(lone.host.notes.sent, (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace penstock
