// Runs whose controller is named from inside, and what it has decided.
#include "lib/runtime/observer.h"
#include "lib/runtime/start_run.h"

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Moves the first stage's window up by one at each tick, for ever.
class Climber final : public autotune::Policy {
 public:
  explicit Climber(std::shared_ptr<std::atomic<int>> ticks) : ticks_(std::move(ticks)) {}
  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    ++*ticks_;
    for (Knob& knob : knobs) {
      if (knob.name == "window" && knob.stage == 1) move(knob, knob.get() + 1, Reason::up_probe, now);
    }
  }

 private:
  std::shared_ptr<std::atomic<int>> ticks_;
};

struct Climbing {
  std::shared_ptr<std::atomic<int>> ticks = std::make_shared<std::atomic<int>>(0);
  IntegerRun start(const RunOptions& options = {}) const {
    return IntegerRun(runtime::start_run(range(1000).map(plus_one).node(), options,
                                         [ticks = ticks] { return std::make_unique<Climber>(ticks); }));
  }
};

TEST(Policies, AreAskedByTheRunThatNamesThem) {
  const Climbing climbing;
  auto run = climbing.start();
  EXPECT_EQ(run.decisions().size(), 0u) << "nothing has been asked for yet";
  EXPECT_EQ(run.next(), 1);
  EXPECT_TRUE(eventually([&] { return run.decisions().size() >= 3; }));
  const std::vector<Decision> decisions = run.decisions();
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    EXPECT_EQ(decisions[i].stage, 1);
    EXPECT_EQ(decisions[i].knob, "window");
    EXPECT_EQ(decisions[i].to, decisions[i].from + 1);
    EXPECT_EQ(decisions[i].reason, Reason::up_probe);
    if (i == 0) continue;
    EXPECT_EQ(decisions[i].from, decisions[i - 1].to) << "oldest first";
    EXPECT_GE(decisions[i].time_ns, decisions[i - 1].time_ns);
  }
  EXPECT_EQ(rest_of(run), numbers(2, 1001));
}

// Its log keeps some hundred: how many it keeps does not tell that there are others.
TEST(Policies, ThatGoOnMovingAreToldToTheLast) {
  std::int64_t window = 0;
  std::vector<Knob> knobs(1);
  knobs[0].name = "window";
  knobs[0].stage = 1;
  knobs[0].high = 10'000;
  knobs[0].get = [&window] { return window; };
  knobs[0].set = [&window](std::int64_t to) { window = to; };
  Climber policy(std::make_shared<std::atomic<int>>(0));
  runtime::Observer observer(knobs, {});
  for (int tick = 1; tick <= 1000; ++tick) {
    policy.tick({}, knobs);
    observer.see({}, &policy);
    ASSERT_EQ(observer.decisions().back().to, tick);
  }
}

TEST(Policies, AreNotAskedWhereNothingIsToBeTuned) {
  for (const RunOptions& options : {RunOptions{.serial = true}, RunOptions{.tune = false}}) {
    const Climbing climbing;
    auto run = climbing.start(options);
    EXPECT_EQ(rest_of(run), numbers(1, 1001));
    EXPECT_EQ(run.decisions().size(), 0u);
    EXPECT_EQ(*climbing.ticks, 0);
  }
}

TEST(Policies, MayBeReadByAnyThreadMeanwhile) {
  const Climbing climbing;
  auto run = climbing.start();
  run.next();
  const std::jthread reader([&](std::stop_token stop) {
    std::size_t most = 0;
    while (!stop.stop_requested()) {
      const std::size_t now = run.decisions().size();
      EXPECT_GE(now, most);
      most = now;
    }
  });
  EXPECT_TRUE(eventually([&] { return *climbing.ticks > 20; }));
}

TEST(Policies, ThatAreNoneMoveNothing) {
  IntegerRun run(runtime::start_run(range(1000).map(plus_one).node(), {}, [] { return nullptr; }));
  EXPECT_EQ(rest_of(run), numbers(1, 1001));
  EXPECT_EQ(run.decisions().size(), 0u);
}

// Holds the run for a while at each tick, as one that the system has put to sleep there.
class Sleeper final : public autotune::Policy {
 public:
  explicit Sleeper(std::shared_ptr<std::atomic<int>> ticks) : ticks_(std::move(ticks)) {}
  void tick(const Snapshot&, std::vector<Knob>&) override {
    ++*ticks_;
    std::this_thread::sleep_for(50ms);
  }

 private:
  std::shared_ptr<std::atomic<int>> ticks_;
};

TEST(Policies, DoNotKeepAliveWhatARunHasHeldWhenItIsGone) {
  const auto ticks = std::make_shared<std::atomic<int>>(0);
  std::weak_ptr<int> held;
  {
    auto captured = std::make_shared<int>(1);
    held = captured;
    IntegerRun run(
        runtime::start_run(range(1000).map([captured](std::int64_t value) { return value + *captured; }).node(), {},
                           [ticks] { return std::make_unique<Sleeper>(ticks); }));
    captured.reset();
    EXPECT_EQ(run.next(), 1);
    const int before = *ticks;
    EXPECT_TRUE(eventually([&] { return *ticks > before; }));
  }
  EXPECT_TRUE(held.expired()) << "the function outlives its run";
}

}  // namespace
}  // namespace penstock
