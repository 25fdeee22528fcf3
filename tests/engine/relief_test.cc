// A run whose permits and threads others have: Relief.
#include <memory>
#include <semaphore>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/exec/tbb_launcher.h"

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Somebody else has the only CPU permit and the only thread of the pool.
class StarvedEngine {
 public:
  explicit StarvedEngine(std::int64_t spare_threads, const Dataset<std::int64_t>& dataset = range(3).map(plus_one))
      : pool(1, spare_threads) {
    pool.submit([this] { end_of_others_.acquire(); });
    EXPECT_TRUE(gate_.acquire(other_, 0, 0));
    exec::EngineSettings settings;
    settings.memory_bytes = std::int64_t{1} << 30;
    settings.gate = &gate_;
    engine = exec::Engine::make(exec::compile(dataset.node()), settings,
                                std::make_unique<exec::TbbLauncher>(settings.permits, compute_, pool, workers_));
  }
  ~StarvedEngine() { end_others(); }
  void end_others() { end_of_others_.release(); }

  bool gives_something() {
    Slot slot;
    return engine->next(slot, system_machine().now()) == exec::Engine::Taken::slot;
  }

 private:
  exec::WorkerThreads workers_;
  exec::ComputePool compute_;
  exec::PermitGate gate_{1};
  const exec::PermitGate::RunRef other_ =
      std::make_shared<exec::PermitGate::Run>(std::weak_ptr<exec::PermitGate::Waiter>(), 1);
  std::counting_semaphore<> end_of_others_{0};

 public:
  exec::ElasticPool pool;
  std::shared_ptr<exec::Engine> engine;
};

TEST(Relief, ComesWhereThePoolHasNoThreadLeftEither) {
  StarvedEngine starved(1);
  EXPECT_TRUE(starved.engine->relief().is_starved());
  EXPECT_FALSE(starved.gives_something());
  starved.engine->relief().relieve();
  EXPECT_TRUE(eventually([&starved] { return starved.gives_something(); }));
}

TEST(Relief, ThatFindsNoThreadNeverRunsOnTheCallersAndMayBeAskedForAgain) {
  StarvedEngine starved(0);
  starved.engine->relief().relieve();
  EXPECT_FALSE(starved.gives_something());
  starved.end_others();
  EXPECT_TRUE(eventually([&starved] {
    starved.engine->relief().relieve();
    return starved.gives_something();
  }));
}

TEST(Relief, ComesAgainThoughItWasAskedForTwice) {
  std::binary_semaphore end(0);
  std::atomic<bool> has_begun{false};
  const auto wait_once = [&](std::int64_t value) {
    has_begun = true;
    if (value == 0) end.acquire();
    return value;
  };
  StarvedEngine starved(1, range(1000).map(wait_once, 1).prefetch(2));
  starved.engine->relief().relieve();
  ASSERT_TRUE(eventually([&has_begun] { return has_begun.load(); }));
  starved.engine->relief().relieve();
  end.release();
  for (int taken = 0; taken < 100; ++taken) {
    if (starved.gives_something()) continue;
    ASSERT_TRUE(eventually([&starved] { return starved.pool.threads() == 1; })) << "the thread that was lent has left";
    starved.engine->relief().relieve();
    ASSERT_TRUE(eventually([&starved] { return starved.gives_something(); }));
  }
}

TEST(Relief, TakesNoThreadWhereNothingIsLeftToDo) {
  StarvedEngine starved(1);
  for (int taken = 0; taken < 3;) {
    starved.engine->relief().relieve();
    taken += starved.gives_something();
  }
  ASSERT_TRUE(eventually([&starved] { return starved.pool.threads() == 1; }));
  for (int i = 0; i < 100; ++i) starved.engine->relief().relieve();
  EXPECT_EQ(starved.pool.threads(), 1);
}

TEST(Relief, UnderWayIsWaitedForWhenTheEngineGoes) {
  for (int round = 0; round < 100; ++round) {
    StarvedEngine starved(1);
    starved.engine->relief().relieve();
    starved.engine.reset();
  }
}

// Twice as long as a run in which nothing moves is left alone. What waits gets a thread sooner; the CPU permits are for
// calls that compute.
TEST(Relief, IsNotForCallsThatAreMerelyLong) {
  CallCounter counter;
  const auto compute = [&counter](std::int64_t value) {
    counter.enter();
    const auto end = std::chrono::steady_clock::now() + 250ms;
    while (std::chrono::steady_clock::now() < end) {
    }
    counter.leave();
    return value;
  };
  EXPECT_EQ(read(range(6).map(compute, 6), {.threads = 1}), numbers(0, 6));
  EXPECT_EQ(counter.most(), 1);
}

// The pool has 256 threads, and each silent source has one.
TEST(Relief, ReachesTheWantedOneOfMoreSilentSourcesThanThreads) {
  constexpr std::int64_t kSources = 258;
  std::vector<Dataset<std::int64_t>> sources;
  for (std::int64_t i = 0; i < kSources; ++i) {
    const bool is_silent = i + 1 < kSources;
    sources.push_back(from_generator(
        [is_silent](Context& context) -> std::optional<std::int64_t> {
          if (!is_silent) return 7;
          std::binary_semaphore stopped(0);
          const std::stop_callback at_the_end(context.stop_token(), [&] { stopped.release(); });
          stopped.acquire();
          return std::nullopt;
        },
        {.blocks = true}));
  }
  auto run = choose_from(sources, range(kSources - 1, kSources).repeat()).start();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run.next_for(kPatience).value, 7);
}

}  // namespace
}  // namespace penstock
