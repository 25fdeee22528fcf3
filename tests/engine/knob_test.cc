// Knobs: that they are there, that they do what they say, and that they change nothing else.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "tests/engine/take.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

// range, a blocking map of 1 ms, a map: enough of everything.
Dataset<std::int64_t> two_stages(CallCounter& counter, Tunable parallelism = AUTOTUNE) {
  return range(1'000'000).map(counted_sleep(counter, 1ms), parallelism, {.blocks = true}).map(plus_one);
}

TEST(Numbers, MayBeAsLargeAsTheyGet) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const bool serial : {true, false}) {
    EXPECT_EQ(read(range(3).prefetch(most).map(plus_one).prefetch(most), {.serial = serial}), numbers(1, 4));
    EXPECT_EQ(read(range(3).map(plus_one, most, {.blocks = true}), {.serial = serial}), numbers(1, 4));
  }
}

TEST(Knobs, AreAllThere) {
  auto run = range(10).map(plus_one).batch(2).start({.tune = false});
  std::multiset<std::string> names;
  for (const Knob& knob : run.knobs()) names.insert(knob.name + "/" + std::to_string(knob.stage));
  for (const char* name : {"parallelism/1", "placement/1", "window/1", "buffer/1", "grain_ns/1", "window/2", "buffer/2",
                           "grain_ns/2", "prefetch/-1", "memory/-1", "cpu_slots/-1", "priority/-1"})
    EXPECT_EQ(names.count(name), 1u) << name;
  EXPECT_EQ(names.count("parallelism/2"), 0u) << "a batch is serial";
}

TEST(Knobs, GiveBackWhatWasSetWithinTheirBounds) {
  auto run = range(10).map(plus_one).start({.tune = false});
  for (const Knob& knob : run.knobs()) {
    const std::int64_t middle = std::min<std::int64_t>(knob.high, std::max<std::int64_t>(knob.low, 3));
    knob.set(middle);
    EXPECT_EQ(knob.get(), middle) << knob.name;
    knob.set(knob.low - 5);
    EXPECT_EQ(knob.get(), knob.low) << knob.name;
    knob.set(knob.high);
    EXPECT_EQ(knob.get(), knob.high) << knob.name;
  }
}

TEST(Knobs, SayWhichNumbersTheUserHasFixed) {
  auto run = range(10).map(plus_one, 3).map(plus_one).prefetch(7).start({.tune = false});
  EXPECT_TRUE(knob_of(run, "parallelism", 1).user_fixed);
  EXPECT_EQ(knob_of(run, "parallelism", 1).get(), 3);
  EXPECT_FALSE(knob_of(run, "parallelism", 2).user_fixed);
  EXPECT_TRUE(knob_of(run, "prefetch", -1).user_fixed);
  EXPECT_EQ(knob_of(run, "prefetch", -1).get(), 7);
}

TEST(Knobs, StayWithinTheBoundsThatTheUserGave) {
  const Tunable few = Tunable::between(3, 8);
  auto run = range(10).map(plus_one, few).prefetch(few).map(plus_one).prefetch(few).start({.tune = false});
  for (const Knob& knob : {knob_of(run, "parallelism", 1), knob_of(run, "buffer", 2), knob_of(run, "prefetch", -1)}) {
    EXPECT_EQ(knob.low, 3) << knob.name;
    EXPECT_EQ(knob.high, 8) << knob.name;
    EXPECT_FALSE(knob.user_fixed) << knob.name;
    knob.set(1);
    EXPECT_EQ(knob.get(), 3) << knob.name;
    knob.set(1000);
    EXPECT_EQ(knob.get(), 8) << knob.name;
  }
}

TEST(Knobs, DoNothingWhenTheirRunHasGone) {
  std::vector<Knob> knobs;
  {
    auto run = range(10).map(plus_one).start();
    run.next();
    knobs = run.knobs();
  }
  for (Knob& knob : knobs) {
    knob.set(2);
    knob.get();
  }
  EXPECT_FALSE(knobs.empty());
}

TEST(Parallelism, IsNeverExceededAfterItWasLowered) {
  CallCounter counter;
  auto run = two_stages(counter).start({.tune = false});
  Knob parallelism = knob_of(run, "parallelism", 1);
  parallelism.set(12);
  take(run, 200);
  for (std::int64_t most : {5, 2, 1}) {
    parallelism.set(most);
    take(run, 120);
    counter.forget_most();
    take(run, 60);
    EXPECT_LE(counter.most(), most);
    EXPECT_GE(counter.most(), 1);
  }
}

// Calls that wait for one another: they end only when as many as asked for run at once.
TEST(Parallelism, IsReachedAfterItWasRaised) {
  CallCounter counter;
  std::atomic<std::int64_t> wanted{1};
  auto meet = [&](std::int64_t value) {
    counter.enter();
    eventually([&] { return counter.most() >= wanted; });
    counter.leave();
    return value;
  };
  auto run = range(3000).map(meet, 2, {.blocks = true}).start({.tune = false});
  take(run, 20);
  EXPECT_LE(counter.most(), 2);
  counter.forget_most();
  wanted = 12;
  knob_of(run, "parallelism", 1).set(12);
  take(run, 1000);  // more than were under way
  EXPECT_EQ(counter.most(), 12);
}

TEST(ErrorPolicy, BelowAllIsRefused) {
  EXPECT_ERROR(range(3).start({.on_error = skip_up_to(-2)}), ErrorCode::invalid_argument,
               "RunOptions::on_error skips at most -2 errors");
  EXPECT_EQ(read(range(3), {.on_error = skip_up_to(-1)}), numbers(0, 3));
}

TEST(Parallelism, OfBlockingCallsBeginsWithinOpenIo) {
  CallCounter counter;
  auto run = two_stages(counter).start({.open_io = 2, .tune = false});
  EXPECT_EQ(knob_of(run, "parallelism", 1).get(), 2);
  take(run, 50);
  EXPECT_LE(counter.most(), 2);
}

TEST(Parallelism, BeyondAnyMachineIsRefused) {
  EXPECT_ERROR(range(3).start({.threads = 1025}), ErrorCode::invalid_argument, "RunOptions::threads is 1025");
  EXPECT_ERROR(range(3).start({.threads = -1}), ErrorCode::invalid_argument, "RunOptions::threads is -1");
}

TEST(Parallelism, OfBlockingCallsIsRefusedWhereThePoolCannotGiveIt) {
  for (int open_io : {-1, 0, 257}) {
    EXPECT_ERROR(range(3).start({.open_io = open_io}), ErrorCode::invalid_argument, std::to_string(open_io));
  }
  for (int open_io : {1, 256}) EXPECT_EQ(read(range(3), {.open_io = open_io}), numbers(0, 3));
}

TEST(Parallelism, GivenByTheUserIsNeverExceeded) {
  for (bool blocks : {false, true}) {
    CallCounter counter;
    auto run = range(300).map(counted_sleep(counter, 200us), 3, {.blocks = blocks}).start({.threads = 8});
    EXPECT_EQ(rest_of(run), numbers(0, 300));
    EXPECT_LE(counter.most(), 3);
    EXPECT_GE(counter.most(), 1);
  }
}

TEST(Parallelism, OfComputingCallsStaysWithinTheThreads) {
  CallCounter counter;
  auto run = range(200).map(counted_sleep(counter, 200us), 64, {.blocks = false}).start({.threads = 2, .tune = false});
  EXPECT_EQ(rest_of(run), numbers(0, 200));
  EXPECT_LE(counter.most(), 3) << "two workers, and a consumer that helps";
}

// Fewer than there are threads for.
TEST(CpuPermits, AreNeverExceededAfterTheyWereLowered) {
  CallCounter counter;
  auto run = range(100'000).map(counted_sleep(counter, 2ms), 8, {.blocks = false}).start({.threads = 4, .tune = false});
  Knob permits = knob_of(run, "cpu_slots", -1);
  EXPECT_EQ(permits.high, 4);
  EXPECT_EQ(permits.get(), 4);
  EXPECT_TRUE(permits.user_fixed);
  for (std::int64_t most : {2, 1, 3}) {
    permits.set(most);
    take(run, 80);  // more than were under way before
    counter.forget_most();
    take(run, 60);
    EXPECT_LE(counter.most(), most);
    EXPECT_GE(counter.most(), 1);
  }
}

TEST(CpuPermits, AreAMatterForTheControllerWhereTheUserGaveNoThreads) {
  auto run = range(10).map(plus_one).start({.tune = false});
  EXPECT_FALSE(knob_of(run, "cpu_slots", -1).user_fixed);
}

// How nice the thread is that runs the last call.
class Niceness {
 public:
  std::int64_t operator()(std::int64_t value) const {
    std::this_thread::sleep_for(500us);
    seen_->store(own());
    return value;
  }
  int seen() const { return seen_->load(); }
  static int own() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid))); }

 private:
  std::shared_ptr<std::atomic<int>> seen_ = std::make_shared<std::atomic<int>>(own());
};

::testing::AssertionResult becomes(IntegerRun& run, const Niceness& niceness, int wanted) {
  const bool came = eventually([&] {
    run.next();
    return niceness.seen() == wanted;
  });
  return (came ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << niceness.seen() << ", not " << wanted;
}

TEST(Priority, MakesWorkersGiveWayAndComeBack) {
  for (bool blocks : {false, true}) {
    const Niceness niceness;
    auto run = range(100'000'000).map(niceness, 2, {.blocks = blocks}).start({.tune = false});
    Knob priority = knob_of(run, "priority", -1);
    if (priority.high == 0)
      GTEST_SKIP() << "this process may not take a niceness back: it needs CAP_SYS_NICE or RLIMIT_NICE";
    const int before = Niceness::own();
    priority.set(1);
    EXPECT_TRUE(becomes(run, niceness, std::min(before + 10, 19)));
    EXPECT_EQ(Niceness::own(), before) << "the consumer is no worker";
    priority.set(0);
    EXPECT_TRUE(becomes(run, niceness, before));
  }
}

TEST(Priority, OfSharedThreadsIsThatOfTheMostUrgentRun) {
  const Niceness patient;
  auto run = range(100'000'000).map(patient, 1, {.blocks = false}).start({.tune = false});
  Knob priority = knob_of(run, "priority", -1);
  if (priority.high == 0)
    GTEST_SKIP() << "this process may not take a niceness back: it needs CAP_SYS_NICE or RLIMIT_NICE";
  const int before = Niceness::own(), patience = std::min(before + 10, 19);
  priority.set(1);
  EXPECT_TRUE(becomes(run, patient, patience));
  {
    auto urgent = range(100).map(plus_one).start({.tune = false});
    urgent.next();
    EXPECT_TRUE(becomes(run, patient, before));
  }
  EXPECT_TRUE(becomes(run, patient, patience));
  priority.set(0);
  EXPECT_TRUE(becomes(run, patient, before)) << "for the tests to come";
}

TEST(Placement, MovesAStageToThePoolAndBack) {
  CallCounter counter;
  auto run = range(100'000).map(counted_sleep(counter, 100us)).start({.tune = false});
  Knob placement = knob_of(run, "placement", 1);
  std::int64_t expected = 0;
  for (std::int64_t on_pool : {1, 0, 1, 0}) {
    placement.set(on_pool);
    EXPECT_EQ(run.snapshot().stages[1].on_pool, on_pool == 1);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(run.next(), expected++);
  }
}

TEST(Memory, SetToAlmostNothingLetsTheRunGoOn) {
  auto run = range(2000).map([](std::int64_t i) { return std::string(1000 + i % 7, 'x'); }).batch(10).start();
  Knob memory = knob_of(run, "memory", -1);
  std::int64_t count = 0;
  for (std::int64_t limit : {1, 100'000, 1, 1'000'000'000}) {
    memory.set(limit);
    for (int i = 0; i < 40; ++i) count += static_cast<std::int64_t>(run.next()->size());
  }
  while (auto batch = run.next()) count += static_cast<std::int64_t>(batch->size());
  EXPECT_EQ(count, 2000);
}

TEST(Knobs, MovedAtRandomByTwoThreadsChangeNeitherValuesNorOrder) {
  const auto data = range(5'000)
                        .map(plus_one)
                        .filter([](std::int64_t value) { return value % 3 != 0; })
                        .shuffle(50, {.seed = 2})
                        .map(plus_one)
                        .batch(7)
                        .unbatch();
  const Texts expected = read(data, {.serial = true});
  auto run = data.start({.tune = false});
  run.next_for(0ms);  // the run exists before others look at it
  auto again = data.start({.tune = false});
  const std::vector<Knob> knobs = again.knobs();
  std::atomic<std::int64_t> moves{0};
  Texts texts;
  {
    std::vector<std::jthread> movers;
    for (std::int64_t mover = 0; mover < 2; ++mover) {
      movers.emplace_back([&, mover](std::stop_token stop) {
        CounterRng rng = make_rng(1, 0, 0, mover);
        for (; !stop.stop_requested(); ++moves) {
          const Knob& knob = knobs[rng.uniform(std::size_t{0}, knobs.size())];
          knob.set(rng.uniform(knob.low, std::min<std::int64_t>(knob.high, 100) + 1));
        }
      });
    }
    texts = rest_of(again);
  }
  EXPECT_EQ(texts, expected);
  EXPECT_GT(moves, 0);
}

TEST(Knobs, StillWorkAfterTheRunWentToAnotherEpochEarly) {
  auto run = range(1'000'000).map(plus_one, 2, {.blocks = true}).start({.tune = false});
  run.next();
  Knob prefetch = knob_of(run, "prefetch", -1);
  prefetch.set(3);
  run.epoch(1);
  run.next();
  EXPECT_EQ(knob_of(run, "prefetch", -1).get(), 3) << "what was set is kept";
  prefetch.set(40);
  EXPECT_EQ(prefetch.get(), 40);
  EXPECT_EQ(knob_of(run, "prefetch", -1).get(), 40) << "the old handle moves the run's knob";
}

// Where the run was made by one thread, others may look at it before anything was asked of it.
TEST(Snapshots, MayBeTakenByOtherThreadsWhileTheRunBegins) {
  for (int round = 0; round < 30; ++round) {
    auto run = range(100).map(plus_one).start();
    std::atomic<std::int64_t> seen{0};
    {
      std::jthread watcher([&](std::stop_token stop) {
        while (!stop.stop_requested()) {
          seen += static_cast<std::int64_t>(run.snapshot().stages.size());
          seen += run.stats().delivered;
          seen += static_cast<std::int64_t>(run.knobs().size());
        }
      });
      ASSERT_TRUE(eventually([&] { return seen > 0; }));
      EXPECT_EQ(rest_of(run), numbers(1, 101));
      run.epoch(1);
      EXPECT_EQ(rest_of(run), numbers(1, 101));
    }
  }
}

TEST(Snapshots, CountEveryElementOnce) {
  auto run = range(1000).map(failing_at(7)).filter([](std::int64_t value) { return value % 2 == 0; }).batch(10).start();
  EXPECT_EQ(rest_of(run).size(), 51u);
  const Snapshot snapshot = run.snapshot();
  ASSERT_EQ(snapshot.stages.size(), 4u);
  EXPECT_EQ(snapshot.stages[1].errors, 1);
  EXPECT_EQ(snapshot.consumer.taken, 51);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(snapshot.stages[i].running, 0) << i;
    EXPECT_EQ(snapshot.stages[i].in_window, 0) << i;
  }
  const std::int64_t in[] = {0, 1000, 1000, 501}, out[] = {1000, 1000, 501, 51};  // errors count, ends of passes do not
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(snapshot.stages[i].elements_in, in[i]) << i;
    EXPECT_EQ(snapshot.stages[i].elements_out, out[i]) << i;
  }
  EXPECT_EQ(run.stats().delivered, 50);
  EXPECT_EQ(run.stats().errors, 1);
  EXPECT_EQ(snapshot.memory_used, 0) << "everything was taken";
}

class OneAtATime final : public ElementwiseOp {
 public:
  explicit OneAtATime(CallCounter& counter) : counter_(counter) {}
  std::string name() const override { return "one_at_a_time"; }
  Flow flow(const Flow& input) const override { return input; }
  bool is_reentrant() const override { return false; }
  void run(std::span<Slot> slots, Context&) const override {
    for (Slot& slot : slots) slot.emit(Element(counted_sleep(counter_, 100us)(slot.value.get<std::int64_t>())));
  }

 private:
  CallCounter& counter_;
};

// It leaves its parallelism to the controller.
TEST(Parallelism, OfAnOpWhoseCallsMustNotOverlapIsOne) {
  CallCounter counter;
  const auto data = range(400).then<std::int64_t>(std::make_shared<OneAtATime>(counter));
  EXPECT_THAT(describe(data), ::testing::HasSubstr("parallelism=1"));
  auto run = data.start({.threads = 4});
  EXPECT_EQ(rest_of(run), numbers(0, 400));
  EXPECT_EQ(counter.most(), 1);
}

// Nobody may call it at once with itself, whoever holds the knob.
TEST(Knobs, ParallelismOfAFunctionWithStateStaysOne) {
  CallCounter counter;
  const auto with_state = [slow = counted_sleep(counter, 100us), calls = 0](std::int64_t value) mutable {
    ++calls;
    return slow(value);
  };
  for (const bool blocks : {false, true}) {
    auto run = range(200).map(with_state, 1, {.blocks = blocks}).start({.threads = 4, .tune = false});
    Knob parallelism = knob_of(run, "parallelism", 1);
    EXPECT_EQ(parallelism.high, 1);
    parallelism.set(8);
    EXPECT_EQ(parallelism.get(), 1);
    EXPECT_EQ(rest_of(run), numbers(0, 200));
    EXPECT_EQ(counter.most(), 1);
  }
}

}  // namespace
}  // namespace penstock
