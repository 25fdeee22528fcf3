#include "lib/exec/compute_pool.h"

#include <functional>
#include <latch>

#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Does what the test says in place of a token; the stage is only a name.
class Worker final : public exec::ComputePool::Client {
 public:
  explicit Worker(std::function<void()> call) : call_(std::move(call)) {}
  void run_here(exec::Stage&) override { call_(); }

 private:
  const std::function<void()> call_;
};

class ComputePoolTest : public ::testing::Test {
 protected:
  LoneStage lone{range(1).map(plus_one).node(), 1, 1 << 20};
  exec::ComputePool* pool = nullptr;  // the test's own, declared behind all that its tokens use: it waits for them
};

TEST_F(ComputePoolTest, HasAThreadForEachTokenThatIsOut) {
  std::latch all_there(5);
  Worker worker([&] {
    all_there.arrive_and_wait();
    pool->token_ends();
  });
  exec::ComputePool own;
  pool = &own;
  for (int i = 0; i < 5; ++i) pool->submit(worker, lone.stage);
  all_there.wait();
  EXPECT_EQ(pool->threads(), 5);
}

TEST_F(ComputePoolTest, WakesNobodyForATokenThatComesAsAnotherEnds) {
  std::atomic<int> left{1000};
  Worker worker([&] {
    pool->token_ends();
    if (--left > 0) pool->submit(worker, lone.stage);
  });
  exec::ComputePool own;
  pool = &own;
  pool->submit(worker, lone.stage);
  ASSERT_TRUE(eventually([&] { return left <= 0; }));
  EXPECT_EQ(pool->wake_ups(), 1);
}

// A thread in the middle of a call may take long: it is not to be waited for.
TEST_F(ComputePoolTest, WakesSomebodyForATokenThatComesInTheMiddleOfACall) {
  std::latch second_has_run(1);
  Worker second([&] {
    second_has_run.count_down();
    pool->token_ends();
  });
  Worker first([&] {
    pool->submit(second, lone.stage);
    second_has_run.wait();
    pool->token_ends();
  });
  exec::ComputePool own;
  pool = &own;
  pool->submit(first, lone.stage);
  second_has_run.wait();
  EXPECT_EQ(pool->threads(), 2);
}

// One after the other, each after a sleep: the same thread serves them, however many there are.
TEST_F(ComputePoolTest, WakesOneThreadForOneTokenHoweverManySleep) {
  std::latch all_there(8);
  Worker together([&] {
    all_there.arrive_and_wait();
    pool->token_ends();
  });
  std::atomic<int> ran{0};
  Worker alone([&] {
    pool->token_ends();
    ++ran;
  });
  exec::ComputePool own;
  pool = &own;
  for (int i = 0; i < 8; ++i) pool->submit(together, lone.stage);
  all_there.wait();
  const std::int64_t before = pool->wake_ups();
  for (int i = 1; i <= 10; ++i) {
    pool->submit(alone, lone.stage);
    ASSERT_TRUE(eventually([&] { return ran == i; }));
  }
  EXPECT_LE(pool->wake_ups() - before, 10);
}

// They leave when they have been idle for five seconds.
TEST_F(ComputePoolTest, RunsATokenThatComesWhenItsThreadsHaveLeft) {
  std::atomic<int> run{0};
  Worker worker([&] {
    ++run;
    pool->token_ends();
  });
  exec::ComputePool own;
  pool = &own;
  for (int tokens = 1; tokens <= 2; ++tokens) {
    pool->submit(worker, lone.stage);
    ASSERT_TRUE(eventually([&] { return run == tokens; })) << tokens;
    ASSERT_TRUE(eventually([&] { return tokens == 2 || pool->threads() == 0; }));
  }
}

TEST_F(ComputePoolTest, FinishesWhatIsQueuedWhenItEnds) {
  std::atomic<int> ran{0};
  Worker worker([&] {
    ++ran;
    pool->token_ends();
  });
  {
    exec::ComputePool own;
    pool = &own;
    for (int i = 0; i < 100; ++i) pool->submit(worker, lone.stage);
  }
  EXPECT_EQ(ran, 100);
}

TEST_F(ComputePoolTest, GivesAClientItsOwnTokensOnly) {
  exec::Stage* mine = nullptr;
  std::atomic<bool> looked{false};
  Worker other([&] { pool->token_ends(); });
  Worker worker([&] {
    pool->token_ends();
    pool->submit(other, lone.stage);  // for this thread, which is about to look
    mine = pool->take(worker);
    looked = true;
  });
  exec::ComputePool own;
  pool = &own;
  pool->submit(worker, lone.stage);
  ASSERT_TRUE(eventually([&] { return looked.load(); }));
  EXPECT_EQ(mine, nullptr);
}

}  // namespace
}  // namespace penstock
