// Sources and stream ops that wait hold no CPU permit: said by the user, or found out.
#include <semaphore>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

std::optional<std::int64_t> never() { return std::nullopt; }

bool has_knob(IntegerRun& run, const std::string& name, int stage) {
  const auto knobs = run.knobs();
  return std::ranges::any_of(knobs, [&](const Knob& knob) { return knob.name == name && knob.stage == stage; });
}

// With one permit, which the source would hold for ever: what it waits for is done by the map behind it.
TEST(SourcePlacement, GeneratorThatBlocksTakesNoCpuPermitFromWhatFollows) {
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> gave_up{false};
  auto waits_for_the_one_before = [&, i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (i == 10) return std::nullopt;
    gave_up = gave_up || !eventually([&] { return done >= i; });
    return i++;
  };
  const auto counts = [&done](std::int64_t x) {
    ++done;
    return x;
  };
  auto run = from_generator(waits_for_the_one_before, {.blocks = true})
                 .map(counts, AUTOTUNE, {.blocks = false})
                 .start({.threads = 1, .tune = false});
  EXPECT_EQ(rest_of(run), numbers(0, 10));
  EXPECT_FALSE(gave_up);
}

TEST(SourcePlacement, KnobIsThereForWhatMayWaitAndIsTheUsersWhereHeHasSaid) {
  auto unknown = from_generator(never).map(plus_one).start({.tune = false});
  EXPECT_FALSE(knob_of(unknown, "placement", 0).user_fixed);
  EXPECT_EQ(knob_of(unknown, "placement", 0).get(), 0);
  auto blocks = from_generator(never, {.blocks = true}).start({.tune = false});
  EXPECT_TRUE(knob_of(blocks, "placement", 0).user_fixed);
  EXPECT_EQ(knob_of(blocks, "placement", 0).get(), 1);
  auto computes = from_generator(never, {.blocks = false}).start({.tune = false});
  EXPECT_FALSE(has_knob(computes, "placement", 0));
  auto positions = range(3).start({.tune = false});
  EXPECT_FALSE(has_knob(positions, "placement", 0)) << "positions are only counted";
}

TEST(SourcePlacement, ControllerMovesAGeneratorThatWaits) {
  auto run = from_generator([i = std::int64_t{0}]() mutable {
               std::this_thread::sleep_for(1ms);
               return std::optional(i++);
             }).start();
  EXPECT_TRUE(eventually([&] {
    run.next();
    return run.snapshot().stages[0].on_pool;
  }));
}

// It holds the only CPU permit, and its call does not end before this test does.
TEST(SourcePlacement, ControllerMovesAGeneratorThatWaitsBeforeItsCallEnds) {
  std::counting_semaphore<200> more(0);
  auto run = from_generator([&more, i = std::int64_t{0}]() mutable {
               if (i > 0) more.acquire();
               return std::optional(i++);
             })
                 .map(plus_one)
                 .start({.threads = 1});
  EXPECT_EQ(next_text(run), "1");
  EXPECT_TRUE(eventually([&] { return run.snapshot().stages[0].on_pool; }));
  more.release();
  EXPECT_EQ(next_text(run), "2");
  more.release(100);
}

// Two of them have the CPU permits, and the source of the others needs one: who has been found to wait gives its up.
TEST(SourcePlacement, CallsThatWaitForEachOtherGiveTheirPermitsUpWhenTheyAreFoundToWait) {
  std::atomic<int> begun{0};
  const auto meet = [&begun](std::int64_t value) {
    ++begun;
    while (begun < 4) std::this_thread::sleep_for(100us);
    return value;
  };
  auto run = range(4).map(meet, 4).start({.threads = 2});
  EXPECT_EQ(rest_of(run), numbers(0, 4));
}

// Passes on what it gets, slowly.
class SlowState final : public StreamState {
 public:
  void element(Slot&& slot, Emitter& out) override {
    std::this_thread::sleep_for(1ms);
    out.emit(std::move(slot.value), slot.stamp);
  }
};

class SlowOp : public StreamOp {
 public:
  std::string name() const override { return "slow"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<SlowState>(); }
};

class KnownSlowOp final : public SlowOp {
 public:
  Form form() const override { return Form::blocks; }
  bool form_is_known() const override { return true; }
};

TEST(StreamPlacement, OpThatSaysItBlocksRunsOnThePool) {
  auto run = range(5).then(std::make_shared<KnownSlowOp>()).start({.tune = false});
  EXPECT_EQ(rest_of(run), numbers(0, 5));
  EXPECT_TRUE(run.snapshot().stages[1].on_pool);
}

TEST(StreamPlacement, ControllerMovesAnOpThatWaits) {
  auto run = range(1'000'000).then(std::make_shared<SlowOp>()).start();
  EXPECT_TRUE(eventually([&] {
    run.next();
    return run.snapshot().stages[1].on_pool;
  }));
}

}  // namespace
}  // namespace penstock
