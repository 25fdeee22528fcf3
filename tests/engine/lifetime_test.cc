// When runs end before their data does, and what surrounds the process.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/exec/tbb_launcher.h"
#include "lib/runtime/runtime.h"

#include "tests/engine/support.h"

// What TBB's workers hold of an arena's observer goes when they leave the arena, which may be after the process has
// ended its tests; it hangs in memory of TBB's that LeakSanitizer does not look into.
// Visible outside, or LeakSanitizer does not find it where symbols are hidden.
extern "C" __attribute__((visibility("default"))) const char*
__lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): its name
  return "leak:tbb::detail::r1::observe\n";
}

namespace penstock {
namespace {

using namespace testing;

TEST(Abandoning, ARunThatWasNeverAskedDoesNothing) {
  CallCounter counter;
  { auto run = range(1000).map(counted_sleep(counter, 0us)).start(); }
  EXPECT_EQ(counter.calls(), 0);
}

TEST(Abandoning, WaitsForCallsUnderWayAndStartsNoOther) {
  CallCounter counter;
  {
    auto run = range(1'000'000).map(counted_sleep(counter, 2ms), 16, {.blocks = true}).prefetch(4).start();
    run.next();
  }
  EXPECT_EQ(counter.running(), 0);
  const std::int64_t calls = counter.calls();
  EXPECT_LT(calls, 1000);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(counter.calls(), calls);
}

TEST(Abandoning, SetsTheStopTokenOfCallsUnderWay) {
  std::atomic<std::int64_t> entered{0}, left{0};
  {
    auto run = range(100)
                   .map(
                       [&](std::int64_t value, Context& context) {
                         ++entered;
                         while (!context.stop_token().stop_requested()) std::this_thread::yield();
                         ++left;
                         return value;
                       },
                       4, {.blocks = true})
                   .start();
    EXPECT_TRUE(run.next_for(1ms).timed_out());
    ASSERT_TRUE(eventually([&] { return entered == 4; }));
  }
  EXPECT_EQ(entered, 4);
  EXPECT_EQ(left, 4);
}

TEST(Abandoning, LetsAllElementsGo) {
  auto token = std::make_shared<int>(0);
  {
    auto run =
        range(1000).map([token](std::int64_t) { return token; }).shuffle(10, {.seed = 1}).batch(3).prefetch(5).start();
    for (int i = 0; i < 7; ++i) run.next();
    EXPECT_GT(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Abandoning, DestroysElementsOutsideItsLocks) {
  using Token = std::shared_ptr<int>;
  std::function<void()> look;
  const auto nosy = [&look](std::int64_t) {
    return Token(new int, [&look](const int* number) {
      look();
      delete number;
    });
  };
  auto run = range(10'000).map(nosy).batch(2).map([](std::vector<Token> tokens) { return tokens; }).start();
  look = [&run] { run.snapshot(); };
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    run.epoch(epoch);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(run.next());
  }
  look = [] {};
}

TEST(Abandoning, OverAndOverAtAnyMomentLosesNothing) {
  std::atomic<std::int64_t> alive{0};
  struct Counted {
    explicit Counted(std::atomic<std::int64_t>& count) : count_(&count) { ++*count_; }
    Counted(Counted&& other) noexcept : count_(other.count_) { ++*count_; }
    Counted& operator=(Counted&&) = delete;
    ~Counted() { --*count_; }
    std::atomic<std::int64_t>* count_;
  };
  for (int round = 0; round < 200; ++round) {
    auto run = range(100)
                   .map([&alive](std::int64_t) { return Counted(alive); }, 4)
                   .map([](Counted value) { return value; }, 4, {.blocks = true})
                   .start();
    for (int i = 0; i < round % 20; ++i) run.next();
  }
  EXPECT_EQ(alive, 0);
}

// A knob that was moved at the last moment may have asked for a call, and its mover may be the last to hold the engine.
TEST(Abandoning, LeavesTheEngineWholeForACallThatIsStillToBegin) {
  CallCounter counter;
  exec::WorkerThreads workers;
  std::atomic<exec::Engine*> given_up{nullptr};
  std::atomic<bool> under_way{false};
  exec::ComputePool compute;
  exec::ElasticPool pool(1);
  pool.submit([&] {  // the call has to wait behind it
    under_way = true;
    while (given_up == nullptr || !given_up.load()->stopped()) std::this_thread::sleep_for(1ms);
  });
  ASSERT_TRUE(eventually([&] { return under_way.load(); })) << "work of a run would overtake what nobody waits for";
  exec::EngineSettings settings;
  settings.memory_bytes = std::int64_t{1} << 30;
  auto engine =
      exec::Engine::make(exec::compile(range(10).map(counted_sleep(counter, 0us), 1, {.blocks = true}).node()),
                         settings, std::make_unique<exec::TbbLauncher>(settings.permits, compute, pool, workers));
  EXPECT_TRUE(eventually([&] { return engine->snapshot().stages[1].ready > 0; }));
  given_up = engine.get();
  engine.reset();
  EXPECT_EQ(counter.calls(), 0);
}

// Requests from inside the run's own calls are refused. They must not keep it alive either, or its owner would not wait
// for the calls.
TEST(Abandoning, WaitsForACallThatAsksItsOwnRunTooSoon) {
  using Request = std::function<void(IntegerRun&)>;
  for (const Request& request :
       {Request([](IntegerRun& run) { run.next(); }), Request([](IntegerRun& run) { run.epoch(1); }),
        Request([](IntegerRun& run) { run.next_for(1h); }), Request([](IntegerRun& run) { run.knobs(); })}) {
    std::atomic<IntegerRun*> asked{nullptr};
    std::atomic<bool> called{false};
    std::atomic<int> under_way{0};
    const auto function = [&](std::int64_t value) {
      ++under_way;
      while (asked == nullptr) std::this_thread::yield();
      called = true;
      for (int i = 0; i < 1000; ++i) {
        try {
          request(*asked);
        } catch (const Error&) {
        }
      }
      --under_way;
      return value;
    };
    std::optional<IntegerRun> owner(range(2).map(function, 1, {.blocks = true}).start());
    owner->knobs();
    asked = &*owner;
    EXPECT_TRUE(eventually([&] { return called.load(); }));
    owner.reset();
    EXPECT_EQ(under_way, 0);
  }
}

// Any thread may ask for knobs, also one that a call waits for. Were the run kept alive by it, nobody would wait for
// the call.
TEST(Abandoning, WaitsForACallThatWaitsForAThreadThatAsksForKnobs) {
  std::atomic<int> asked{0}, asked_since{0}, under_way{0};
  std::atomic<bool> stopped{false}, refused{false}, given_up{false};
  const auto enough = [&] { return asked_since >= 100 || given_up; };
  const auto function = [&](std::int64_t value, Context& context) {
    ++under_way;
    while (!enough()) stopped = context.stop_token().stop_requested();
    --under_way;
    return value;
  };
  std::optional<IntegerRun> owner(range(2).map(function, 1, {.blocks = true}).start());
  owner->knobs();
  std::thread helper([&, run = &*owner] {
    for (; !enough(); ++asked) {
      try {
        run->knobs();
      } catch (const std::exception&) {
        refused = true;
      }
      asked_since += stopped;
    }
  });
  EXPECT_TRUE(eventually([&] { return asked > 0 && under_way == 1; }));
  owner.reset();
  EXPECT_EQ(under_way, 0);
  EXPECT_FALSE(refused);
  given_up = true;
  helper.join();
}

// The run is owned by nobody but its own function, which gives it up.
TEST(Abandoning, FromInsideOneOfItsOwnCallsLetsTheCallEnd) {
  for (bool blocks : {false, true}) {
    auto owner = std::make_shared<std::optional<IntegerRun>>();
    auto mutex = std::make_shared<std::mutex>();
    std::atomic<int> ended{0};
    auto data = range(1000).map(
        [owner, mutex, &ended](std::int64_t value) {
          if (value == 5) {
            std::lock_guard lock(*mutex);
            owner->reset();
            ++ended;
          }
          return value;
        },
        4, {.blocks = blocks});
    {
      std::lock_guard lock(*mutex);
      owner->emplace(data.prefetch(64).start());
      (*owner)->next();
    }
    EXPECT_TRUE(eventually([&] { return ended == 1; }));
  }
}

// The function is called by the very request that asks the run that it gives up.
TEST(Abandoning, FromInsideOneOfItsOwnCallsOfASerialRunLetsTheCallEnd) {
  const std::function<std::optional<std::int64_t>(IntegerRun&)> requests[] = {
      [](IntegerRun& run) { return run.next(); },
      [](IntegerRun& run) { return run.next_for(1h).value; },
  };
  for (const auto& request : requests) {
    std::optional<IntegerRun> owner;
    const auto held = std::make_shared<int>(0);
    owner.emplace(range(3)
                      .map([&owner, held](std::int64_t value) {
                        owner.reset();
                        return value + *held;
                      })
                      .start({.serial = true}));
    EXPECT_EQ(request(*owner), 0);
    EXPECT_FALSE(owner);
    EXPECT_EQ(held.use_count(), 1);
  }
}

// The consumer waits in epoch() for the call that gives the run up. Element 1 is ready then, and tells that epoch()
// lets it go.
TEST(Abandoning, FromInsideACallThatAnotherEpochWaitsForLeavesThatEpochWhole) {
  using Token = std::shared_ptr<void>;
  std::optional<penstock::Run<Token>> owner;
  std::atomic<bool> is_called{false}, lets_go{false};
  const auto function = [&](std::int64_t value, Context& context) {
    if (value == 1) return Token(nullptr, [&](void*) { lets_go = true; });
    if (value == 2 && context.epoch() == 0) {
      is_called = true;
      EXPECT_TRUE(eventually([&] { return lets_go.load(); }));
      owner.reset();
    }
    return Token();
  };
  owner.emplace(range(10).map(function, 1, {.blocks = true}).prefetch(4).start());
  EXPECT_TRUE(owner->next());
  ASSERT_TRUE(eventually([&] { return is_called && owner->snapshot().consumer.ready == 1; }));
  EXPECT_FALSE(lets_go);
  int elements = 0;
  for (const Token& element : owner->epoch(1)) elements += element ? 0 : 1;
  EXPECT_EQ(elements, 10);
  EXPECT_FALSE(owner);
}

// One run's function gives the run up and goes on until the other run has been tuned.
TEST(Abandoning, FromInsideALongCallLeavesOtherRunsLookedAfter) {
  std::optional<IntegerRun> given_up;
  std::mutex mutex;
  std::atomic<bool> gone{false}, release{false}, ended{false};
  const auto long_call = [&](std::int64_t value) {
    if (value != 5) return value;
    {
      std::lock_guard lock(mutex);
      given_up.reset();
    }
    gone = true;
    eventually([&] { return release.load(); });
    ended = true;
    return value;
  };
  {
    std::lock_guard lock(mutex);
    given_up.emplace(range(1000).map(long_call, 4, {.blocks = true}).prefetch(64).start());
    given_up->next();
  }
  ASSERT_TRUE(eventually([&] { return gone.load(); }));
  CallCounter counter;
  auto run = range(1'000'000).map(counted_sleep(counter, 1ms), AUTOTUNE, {.blocks = true}).start();
  Knob parallelism = knob_of(run, "parallelism", 1);
  for (int i = 0; i < 10'000 && parallelism.get() == 4; ++i) run.next();
  EXPECT_NE(parallelism.get(), 4) << "nobody tunes";  // on a busy machine it may begin with less
  EXPECT_FALSE(ended);
  release = true;
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

// -------------------------------------------------------------------------------- the process

TEST(Process, HasNoMoreCpuPermitsThanItsLiveRunsAskFor) {
  const int many = static_cast<int>(std::thread::hardware_concurrency()) + 50;  // more than any run is offered
  const auto data = range(1000).map(plus_one);
  auto modest = data.start({.tune = false});
  modest.next();
  const auto permits = [] { return runtime::Runtime::get().gate().permits(); };
  {
    auto greedy = data.start({.threads = many});
    greedy.next();
    EXPECT_TRUE(eventually([&] { return permits() == many; }));
    { data.start({.threads = many + 10}).next(); }
    EXPECT_TRUE(eventually([&] { return permits() == many; })) << "of two, the one that is left";
  }
  EXPECT_TRUE(eventually([&] { return permits() < many; }));
}

TEST(Process, ALimitOnTbbOfTheApplicationStillLetsRunsEnd) {
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(read(range(100).map(plus_one).map(plus_one)), numbers(2, 102));
  const auto inner = range(5).map(plus_one, 4);
  const auto outer = range(5).map([inner](std::int64_t x) { return x + std::int64_t(read(inner).size()); }, 4);
  EXPECT_EQ(read(outer), numbers(5, 10));
}

TEST(Process, AParallelLoopInsideAFunctionEnds) {
  const auto data = range(20).map(
      [](std::int64_t value) {
        std::atomic<std::int64_t> sum{0};
        oneapi::tbb::parallel_for(0, 100, [&](int) { ++sum; });
        return value + sum;
      },
      4);
  EXPECT_EQ(read(data), numbers(100, 120));
}

// The exit code of a child process that runs `body`; -1 if it did not end by itself.
template <class Body> int exit_code_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a hang must not outlive the test
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kRefused = 3;

template <class Use> int refusal_of(Use use) {
  try {
    use();
    return 0;
  } catch (const ElementError&) {
    return 1;
  } catch (const Error& error) {
    return error.code() == ErrorCode::failed_precondition ? kRefused : 2;
  }
}

TEST(Process, AForkedChildIsRefusedANewRun) {
  const auto data = range(3).map(plus_one);
  ASSERT_EQ(read(data), numbers(1, 4));
  EXPECT_EQ(exit_code_of_child([&] { return refusal_of([&] { data.start().next(); }); }), kRefused);
}

TEST(Process, AForkedChildIsRefusedARunOfItsParent) {
  auto run = range(1000).map(plus_one).start();
  run.next();
  Knob knob = run.knobs().front();
  const std::function<void()> uses[] = {[&] { run.next(); },   [&] { run.next_for(1ms); }, [&] { run.epoch(0); },
                                        [&] { run.epoch(1); }, [&] { run.knobs(); },       [&] { run.snapshot(); },
                                        [&] { knob.get(); },   [&] { knob.set(2); }};
  for (const auto& use : uses) EXPECT_EQ(exit_code_of_child([&] { return refusal_of(use); }), kRefused);
  EXPECT_EQ(rest_of(run), numbers(2, 1001));
}

// With calls under way, which nobody would end there.
TEST(Process, AForkedChildMayLetARunOfItsParentGo) {
  CallCounter counter;
  std::optional<IntegerRun> run(range(100).map(counted_sleep(counter, 5ms), 4, {.blocks = true}).map(plus_one).start());
  run->next();
  ASSERT_TRUE(eventually([&] { return counter.running() > 0; }));
  EXPECT_EQ(exit_code_of_child([&] {
              run.reset();
              return 7;
            }),
            7);
  EXPECT_EQ(rest_of(*run), numbers(2, 101));
}

TEST(Process, AForkedChildMayRunSerially) {
  const auto data = range(3).map(plus_one);
  ASSERT_EQ(read(data), numbers(1, 4));
  auto of_parent = data.start({.serial = true});  // nothing was asked of it there
  EXPECT_EQ(exit_code_of_child([&] {
              const bool right = read(data, {.serial = true}) == numbers(1, 4) && rest_of(of_parent) == numbers(1, 4);
              return right ? 7 : 1;
            }),
            7);
}

TEST(Process, AChildForkedBeforeTheFirstRunWorks) {
  if (::testing::UnitTest::GetInstance()->test_to_run_count() != 1)
    GTEST_SKIP() << "needs a process to itself, as ctest gives it";
  EXPECT_EQ(exit_code_of_child([] { return read(range(3)) == numbers(0, 3) ? 7 : 1; }), 7);
}

}  // namespace
}  // namespace penstock
