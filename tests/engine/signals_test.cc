// What a controller is shown of stages: times of calls, and samples of what threads used.
#include <cmath>
#include <functional>

#include <penstock/service_times.h>
#include <penstock/world.h>

#include "lib/core/cpu_budget.h"
#include "lib/exec/compile.h"
#include "lib/exec/engine.h"

#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"
#include "tests/support/burn.h"
#include "tests/support/pumped.h"

namespace penstock {
namespace {

using namespace testing;
constexpr std::int64_t kMs = 1'000'000;

TEST(ServiceTime, BucketIsTheHalfOctaveAboveOneMicrosecond) {
  EXPECT_EQ(service_time_bucket(-5), 0u);
  EXPECT_EQ(service_time_bucket(0), 0u);
  EXPECT_EQ(service_time_bucket(1'414), 0u);
  EXPECT_EQ(service_time_bucket(1'415), 1u);
  EXPECT_EQ(service_time_bucket(std::int64_t{1} << 62), ServiceTimes{}.size() - 1);
  for (std::int64_t ns = 1'001; ns < std::int64_t{3600} * 1'000'000'000; ns += ns / 1'000 + 1) {
    ASSERT_EQ(service_time_bucket(ns), static_cast<std::size_t>(2 * std::log2(static_cast<double>(ns) / 1'000))) << ns;
  }
}

TEST(ServiceTime, BucketsBeginWhereTheyAreSaidTo) {
  for (std::size_t i = 0; i < ServiceTimes{}.size(); ++i) {
    const auto from = static_cast<std::int64_t>(std::ceil(service_time_from(i)));
    EXPECT_EQ(service_time_bucket(from), i);
    EXPECT_EQ(service_time_bucket(from - 1), i == 0 ? 0 : i - 1);
  }
}

TEST(Stages, SayWhomTheyFeedAndInWhichOrder) {
  auto run =
      range(10).map(plus_one).map(plus_one, AUTOTUNE, {.order = Order::arbitrary}).batch(2).start({.tune = false});
  rest_of(run);
  const auto stages = run.snapshot().stages;
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].feeds, 1);
  EXPECT_EQ(stages[1].feeds, 2);
  EXPECT_EQ(stages[2].feeds, 3);
  EXPECT_EQ(stages[3].feeds, -1);
  EXPECT_TRUE(stages[1].ordered);
  EXPECT_FALSE(stages[2].ordered);
}

// An engine that is pumped by the test, whose clock stands still but for what calls make it go on.
class PumpedRun {
 public:
  explicit PumpedRun(const Dataset<std::int64_t>& dataset) {
    exec::EngineSettings settings;
    settings.memory_bytes = std::int64_t{1} << 30;
    settings.machine = &machine_;
    engine_ = exec::Engine::make(exec::compile(dataset.node()), settings, first_come());
    for (const Knob& knob : engine_->knobs()) {
      if (knob.name == "grain_ns") knob.set(1);  // each element a call of its own
    }
  }
  ~PumpedRun() { engine_->shut_down(); }
  PumpedRun(const PumpedRun&) = delete;
  PumpedRun& operator=(const PumpedRun&) = delete;

  void take(std::int64_t elements) {
    for (; elements > 0; --elements) {
      Slot slot;
      engine_->next(slot);
    }
  }
  StageSnapshot stage(std::size_t index) const { return engine_->snapshot().stages.at(index); }
  void let_pass(std::int64_t ns) { time_ns_ += ns; }

 private:
  std::int64_t time_ns_ = 0;
  const ClockedMachine machine_{[this] { return time_ns_; }};
  std::shared_ptr<exec::Engine> engine_;
};

// A map whose call for element i lasts i % 10 ms, and one without any effort behind it.
TEST(Stages, CountEachElementsServiceTime) {
  PumpedRun* clock = nullptr;
  const auto slow = [&clock](std::int64_t value) {
    clock->let_pass(value % 10 * kMs);
    return value;
  };
  PumpedRun run(range(1000).map(slow, 1).map(plus_one, 1));
  clock = &run;
  run.take(1001);  // and the mark behind them
  const StageSnapshot dear = run.stage(1);
  ServiceTimes expected{};
  for (std::int64_t i = 0; i < 1000; ++i) ++expected[service_time_bucket(i % 10 * kMs)];
  EXPECT_EQ(dear.service_times, expected);
  EXPECT_EQ(run.stage(2).service_times[0], 1000) << "all of them in no time";
}

TEST(Stages, SampleACallInFourMilliseconds) {
  PumpedRun* clock = nullptr;
  const auto slow = [&clock](std::int64_t value) {
    clock->let_pass(kMs / 2);
    return value;
  };
  PumpedRun run(range(100'000).map(slow, 1));
  clock = &run;
  run.take(20'000);
  const StageSnapshot stage = run.stage(1);
  EXPECT_NEAR(static_cast<double>(stage.samples), 10'000.0 / 4, 200);
  EXPECT_EQ(stage.sampled_elements, stage.samples) << "one element each";
  EXPECT_NEAR(static_cast<double>(stage.sampled_wall_ns), static_cast<double>(stage.samples * kMs / 2), 1);
}

// Long calls have their share among the samples and no more, though they last a hundred times longer.
TEST(Stages, SampleLongAndShortCallsAlike) {
  PumpedRun* clock = nullptr;
  const auto uneven = [&clock](std::int64_t value) {
    clock->let_pass(value % 2 == 0 ? 2 * kMs : kMs / 50);
    return value;
  };
  PumpedRun run(range(100'000).map(uneven, 1));
  clock = &run;
  run.take(20'000);
  const StageSnapshot stage = run.stage(1);
  const double mean = static_cast<double>(stage.sampled_wall_ns) / static_cast<double>(stage.samples);
  EXPECT_NEAR(mean, 1.01 * kMs, 0.05 * kMs);
}

// Takes its elements and answers when told to.
class LaterOp final : public ElementwiseOp {
 public:
  using Waiting = std::vector<std::pair<Element, Completion>>;
  LaterOp(std::shared_ptr<Waiting> waiting, std::int64_t calls) : waiting_(std::move(waiting)), calls_(calls) {}
  std::string name() const override { return "later"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  Tunable parallelism() const override { return calls_; }
  void start(Element value, Context&, Completion completion) const override {
    waiting_->emplace_back(std::move(value), std::move(completion));
  }

 private:
  std::shared_ptr<Waiting> waiting_;
  std::int64_t calls_;
};

// 200 calls under way that last 100 ms each: the samples of 4 s are those of 4 s, not of 800.
TEST(Stages, SampleNoMoreOftenWhenManyCallsAreUnderWay) {
  const auto waiting = std::make_shared<LaterOp::Waiting>();
  LoneStage lone(range(100'000).then<std::int64_t>(std::make_shared<LaterOp>(waiting, 200)).node(), 1, 1 << 30);
  lone.stage.add_credits(100'000);
  lone.feed(8000 + 200);
  for (int round = 0; round < 40; ++round) {
    lone.run_tokens();
    ASSERT_EQ(waiting->size(), 200u);
    lone.host.let_pass(100 * kMs);
    const auto answered = std::exchange(*waiting, {});
    for (auto& [value, completion] : answered) const_cast<Completion&>(completion).complete(Element(std::int64_t{1}));
  }
  const StageSnapshot stage = lone.snapshot();
  EXPECT_EQ(stage.completed, 8000);
  EXPECT_NEAR(static_cast<double>(stage.samples), 4000.0 / 4, 200);
  EXPECT_EQ(stage.sampled_elements, stage.samples);
}

// The readings of 100 ms ago at most: so they are waited for.
template <class T> Snapshot snapshot_when(Run<T>& run, const std::function<bool(const Snapshot&)>& condition) {
  EXPECT_TRUE(eventually([&] { return condition(run.snapshot()); }));
  return run.snapshot();
}

TEST(Snapshot, ShowsWhatWorkersAndTheConsumerBurn) {
  for (bool blocks : {false, true}) {
    const auto work = [](std::int64_t value) {
      burn(2 * kMs);
      return value;
    };
    auto run = range(100).map(work, 2, {.blocks = blocks}).start({.tune = false});
    run.next();
    const Snapshot first =
        snapshot_when(run, [](const Snapshot& now) { return now.clocks_ns >= 0 && now.consumer.cpu_ns >= 0; });
    std::int64_t count = 1;
    for (; run.next(); ++count) burn(kMs);
    EXPECT_EQ(count, 100);
    const Snapshot last = snapshot_when(run, [&](const Snapshot& now) {
      return now.workers_cpu_ns - first.workers_cpu_ns > 100 * kMs &&
             now.consumer.cpu_ns - first.consumer.cpu_ns > 50 * kMs;
    });
    EXPECT_GT(last.clocks_ns, first.clocks_ns);
    EXPECT_GE(last.process_cpu_ns - first.process_cpu_ns, last.workers_cpu_ns - first.workers_cpu_ns);
    EXPECT_LE(last.consumer_cpu_ns, last.consumer.cpu_ns) << "it was read at the same moment, or later";
  }
}

TEST(Snapshot, OfASerialRunKnowsNoClocksForNobodyReadsThem) {
  auto run = range(10).map(plus_one).start({.serial = true});
  EXPECT_EQ(rest_of(run), numbers(1, 11));
  const Snapshot now = run.snapshot();
  EXPECT_EQ(now.consumer.cpu_ns, -1);
  EXPECT_EQ(now.consumer.delay_ns, -1);
  EXPECT_EQ(now.process_cpu_ns, -1);
  EXPECT_EQ(now.workers_cpu_ns, -1);
  EXPECT_EQ(now.consumer_cpu_ns, -1);
}

// Threads that a function starts are neither workers nor the consumer.
TEST(Snapshot, DoesNotCountThreadsOfTheUserAsWorkers) {
  const auto work = [](std::int64_t value) {
    std::thread([] { burn(5 * kMs); }).join();
    return value;
  };
  auto run = range(100).map(work, 1).start({.tune = false});
  run.next();
  const Snapshot first = snapshot_when(run, [](const Snapshot& now) { return now.clocks_ns >= 0; });
  while (run.next()) {
  }
  const Snapshot last =
      snapshot_when(run, [&](const Snapshot& now) { return now.process_cpu_ns - first.process_cpu_ns > 300 * kMs; });
  EXPECT_LT(last.workers_cpu_ns - first.workers_cpu_ns, 150 * kMs);
}

TEST(Snapshot, TellsHowLongTheConsumerHadAllItCouldHave) {
  auto run = range(1000).map(plus_one).prefetch(4).map(plus_one).prefetch(4).start({.tune = false});
  run.next();
  const auto full = [&] { return run.snapshot().consumer.full_ns; };
  EXPECT_TRUE(eventually([&] { return full() > kMs; })) << "nobody takes";
  EXPECT_EQ(rest_of(run), numbers(3, 1002));
  EXPECT_LE(full(), run.snapshot().time_ns);
}

// From here on it is empty for ever.
TEST(Snapshot, OfARunAtItsEndHasNoFullConsumer) {
  auto run = range(100).map(plus_one).start({.tune = false});
  rest_of(run);
  const std::int64_t before = run.snapshot().consumer.full_ns;
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(run.snapshot().consumer.full_ns, before);
}

// However many threads the user asks for.
TEST(Snapshot, ShowsTheCpusThatThereAre) {
  const double all = HostLimits().cpus().for_rank(World::detect().local_size);
  const auto budget = [](int threads) {
    auto run = range(10).map(plus_one).start({.threads = threads, .tune = false});
    run.next();
    return run.snapshot().cpu_budget;
  };
  EXPECT_DOUBLE_EQ(budget(0), all);
  EXPECT_DOUBLE_EQ(budget(1), std::min(1.0, all));
  EXPECT_DOUBLE_EQ(budget(1000), all);
}

}  // namespace
}  // namespace penstock
