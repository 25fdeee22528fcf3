// Who goes before whom at the CPU permits.
#include "lib/exec/permit_gate.h"

#include <functional>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"

#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"
#include "tests/support/pumped.h"

namespace penstock::exec {
namespace {

using Stages = std::vector<std::size_t>;

// A run that does something with what it is offered.
class Asking final : public PermitGate::Waiter {
 public:
  using Answer = std::function<void(std::size_t stage)>;
  explicit Asking(Answer answer) : answer_(std::move(answer)) {}
  void permit_is_free(std::size_t stage) override { answer_(stage); }

 private:
  Answer answer_;
};

struct TestRun {
  explicit TestRun(
      Asking::Answer answer = [](std::size_t) {}, std::int64_t most = 100)
      : waiter(std::make_shared<Asking>(std::move(answer))), at_gate(std::make_shared<PermitGate::Run>(waiter, most)) {}
  std::shared_ptr<Asking> waiter;
  PermitGate::RunRef at_gate;
};

TEST(PermitGate, IsWantedByHigherRanksAndOtherRuns) {
  const TestRun run, other;
  const auto wanted = [&](const TestRun& waiting, std::size_t rank) {
    PermitGate gate(1);
    EXPECT_TRUE(gate.acquire(run.at_gate, 0, 3));
    EXPECT_FALSE(gate.acquire(waiting.at_gate, 1, rank));
    const bool answer = gate.is_wanted_before(run.at_gate, 3);
    gate.release(run.at_gate);
    return answer;
  };
  EXPECT_TRUE(wanted(run, 4));
  EXPECT_FALSE(wanted(run, 3));
  EXPECT_FALSE(wanted(run, 1));
  EXPECT_TRUE(wanted(other, 1));
}

// Where there was no memory to hand its tokens on.
TEST(PermitGate, GetsBackWhatARunThatEndsHasStill) {
  PermitGate gate(4);
  {
    auto launcher = std::make_unique<testing::NotingLauncher>();
    launcher->has_no_memory = true;
    EngineSettings settings;
    settings.gate = &gate;
    settings.memory_bytes = 1 << 20;
    const auto engine = Engine::make(compile(range(9).node()), settings, std::move(launcher));
    engine->state().stages[0]->add_credits(9);
    EXPECT_EQ(gate.in_use(), 1);
  }
  EXPECT_EQ(gate.in_use(), 0);
}

// A thread that was offered a permit holds the engine meanwhile. It may start a token when all others have ended.
TEST(PermitGate, MayStartATokenOfARunThatEndsWhichRunsBeforeTheRunIsGone) {
  int ran = 0;
  EngineSettings settings;
  settings.memory_bytes = 1 << 20;
  {
    const auto count = [&ran](const std::vector<std::size_t>&) { return ++ran, 0; };
    const auto engine = Engine::make(compile(range(9).node()), settings, std::make_unique<QueueLauncher>(count));
    engine->shut_down();
    ran = 0;
    engine->state().launcher->launch(*engine->state().stages[0], false);
  }
  EXPECT_EQ(ran, 1);
}

TEST(PermitGate, IsWantedWhenThereAreFewerPermitsThanBefore) {
  const TestRun run;
  PermitGate gate(2);
  EXPECT_TRUE(gate.acquire(run.at_gate, 0, 0));
  EXPECT_TRUE(gate.acquire(run.at_gate, 0, 0));
  EXPECT_FALSE(gate.is_wanted_before(run.at_gate, 0));
  gate.set_permits(1);
  EXPECT_TRUE(gate.is_wanted_before(run.at_gate, 0));
}

TEST(PermitGate, OffersAFreePermitToTheHighestRank) {
  Stages offered;
  const TestRun run([&](std::size_t stage) { offered.push_back(stage); });
  PermitGate gate(1);
  EXPECT_TRUE(gate.acquire(run.at_gate, 9, 0));
  for (const std::size_t rank : {2, 5, 3}) EXPECT_FALSE(gate.acquire(run.at_gate, rank, rank));
  gate.release(run.at_gate);
  EXPECT_EQ(offered, (Stages{5, 3, 2})) << "who does not take it is followed by the next";
}

// Two stages of one run, each of which waits again as soon as the other is served, keep no other run out.
TEST(PermitGate, ServesRunsInTurn) {
  PermitGate gate(1);
  Stages served;
  TestRun greedy, modest;
  const auto take = [&](const TestRun& run) {
    return [&](std::size_t stage) {
      if (gate.acquire(run.at_gate, stage, stage)) served.push_back(stage);
    };
  };
  greedy = TestRun(take(greedy));
  modest = TestRun(take(modest));
  EXPECT_TRUE(gate.acquire(greedy.at_gate, 7, 7));
  EXPECT_FALSE(gate.acquire(greedy.at_gate, 5, 5));
  EXPECT_FALSE(gate.acquire(modest.at_gate, 1, 1));
  EXPECT_FALSE(gate.acquire(greedy.at_gate, 6, 6));
  gate.release(greedy.at_gate);
  EXPECT_FALSE(gate.acquire(greedy.at_gate, 7, 7));
  gate.release(greedy.at_gate);
  EXPECT_EQ(served, (Stages{6, 1}));
}

TEST(PermitGate, GivesARunNoMoreThanItHasThreadsFor) {
  PermitGate gate(8);
  Stages offered;
  const TestRun run([&](std::size_t stage) { offered.push_back(stage); }, 1), other;
  EXPECT_TRUE(gate.acquire(run.at_gate, 1, 1));
  EXPECT_FALSE(gate.acquire(run.at_gate, 2, 2));
  EXPECT_FALSE(gate.has_free_permit(*run.at_gate));
  EXPECT_TRUE(gate.acquire(other.at_gate, 3, 3));
  EXPECT_FALSE(gate.is_wanted_before(other.at_gate, 3)) << "what waits there could not use it";
  EXPECT_TRUE(gate.is_wanted_before(run.at_gate, 1));
  gate.release(other.at_gate);
  EXPECT_EQ(offered, Stages{});
  gate.release(run.at_gate);
  EXPECT_EQ(offered, Stages{2});
}

TEST(PermitGate, TakesPermitsBackFromARunThatIsToHaveFewer) {
  PermitGate gate(4);
  Stages offered;
  const TestRun run([&](std::size_t stage) { offered.push_back(stage); }), other;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(gate.acquire(run.at_gate, 1, 1));
  gate.set_most(run.at_gate, 2);
  EXPECT_TRUE(gate.is_wanted_before(run.at_gate, 1));
  gate.release(run.at_gate);
  EXPECT_FALSE(gate.is_wanted_before(run.at_gate, 1));
  EXPECT_FALSE(gate.acquire(run.at_gate, 5, 5));
  EXPECT_TRUE(gate.acquire(other.at_gate, 1, 1)) << "the permits are free for others";
  gate.set_most(run.at_gate, 3);
  EXPECT_EQ(offered, Stages{5}) << "more than before: who waits is told";
  gate.set_most(run.at_gate, 0);
  EXPECT_EQ(run.at_gate->most(), 1);
}

TEST(PermitGate, OffersPermitsThatAreAdded) {
  PermitGate gate(1);
  Stages offered;
  const TestRun run([&](std::size_t stage) { offered.push_back(stage); });
  EXPECT_TRUE(gate.acquire(run.at_gate, 1, 1));
  EXPECT_FALSE(gate.acquire(run.at_gate, 2, 2));
  gate.set_permits(2);
  EXPECT_EQ(offered, Stages{2});
}

// By a call that has the only permit, and waits for that run's element.
TEST(PermitGate, MayBeLentToOneRun) {
  PermitGate gate(1);
  Stages offered;
  const TestRun reads, other;
  const TestRun is_read([&](std::size_t stage) { offered.push_back(stage); });
  EXPECT_TRUE(gate.acquire(reads.at_gate, 0, 0));
  EXPECT_FALSE(gate.acquire(other.at_gate, 1, 1));
  EXPECT_FALSE(gate.acquire(is_read.at_gate, 2, 2));
  {
    const PermitGate::Loan loan(gate, is_read.at_gate);
    EXPECT_EQ(offered, Stages{2});
    EXPECT_FALSE(gate.has_free_permit(*other.at_gate));
    EXPECT_TRUE(gate.acquire(is_read.at_gate, 2, 2));
    EXPECT_FALSE(gate.acquire(is_read.at_gate, 3, 3)) << "it is one";
    gate.release(reads.at_gate);
    EXPECT_TRUE(gate.acquire(reads.at_gate, 0, 0)) << "the others are as many as before";
  }
  EXPECT_TRUE(gate.is_wanted_before(is_read.at_gate, 9)) << "the loan is over";
}

TEST(PermitGate, PassesOverARunThatHasEnded) {
  PermitGate gate(1);
  Stages offered;
  const TestRun run([&](std::size_t stage) { offered.push_back(stage); });
  EXPECT_TRUE(gate.acquire(run.at_gate, 1, 1));
  EXPECT_FALSE(gate.acquire(TestRun().at_gate, 2, 2));
  EXPECT_FALSE(gate.acquire(run.at_gate, 3, 3));
  gate.release(run.at_gate);
  EXPECT_EQ(offered, Stages{3});
}

// Of three stages that compute, those in front of one that waits are the first and the second.
TEST(PermitGate, IsWantedFirstByWhatFeedsAStageThatWaits) {
  const auto plus_one = [](std::int64_t value) { return value + 1; };
  const auto plan = compile(range(100).map(plus_one, 1).map(plus_one, 1, {.blocks = true}).map(plus_one, 1).node());
  EngineSettings settings;
  PermitGate gate(1);
  settings.gate = &gate;
  settings.memory_bytes = 1 << 20;
  const TestRun other;
  const auto wanted_from = [&](std::size_t waiting, std::size_t running) {
    EXPECT_TRUE(gate.acquire(other.at_gate, 9, 9));
    const auto engine = Engine::make(plan, settings, testing::first_come());
    EngineHost host(engine->state());
    host.acquire_permit(waiting);
    const bool wanted = host.permit_is_wanted(running);
    engine->shut_down();
    gate.release(other.at_gate);
    return wanted;
  };
  EXPECT_TRUE(wanted_from(1, 0)) << "further down";
  EXPECT_TRUE(wanted_from(1, 3)) << "its calls feed those that wait";
  EXPECT_TRUE(wanted_from(0, 3));
  EXPECT_FALSE(wanted_from(3, 1));
}

}  // namespace
}  // namespace penstock::exec
