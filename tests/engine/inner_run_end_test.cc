// When runs inside functions of other runs end: with the call that they belong to, and with no other.
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <thread>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

// Functions that wait for their own stop token inside a call of another run.
auto waits_for_stop(std::atomic<int>& began) {
  return [&began](std::int64_t value, Context& context) {
    ++began;
    while (!context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
    return value;
  };
}

// Ends with its block, or the test hangs.
TEST(InnerRun, EndsWithTheOuterRun) {
  std::atomic<int> began{0};
  {
    auto run = range(3)
                   .flat_map([&](std::int64_t) { return range(3).map(waits_for_stop(began)); }, 2, {.blocks = true})
                   .start();
    EXPECT_TRUE(run.next_for(20ms).timed_out());
    EXPECT_TRUE(eventually([&] { return began > 0; }));
  }
  {
    began = 0;
    const auto loop = [&](std::int64_t value) {
      for (const std::int64_t inner :
           range(3).flat_map([&](std::int64_t) { return range(1).map(waits_for_stop(began)); }))
        value += inner;
      return value;
    };
    auto run = range(3).map(loop, 2, {.blocks = true}).start();
    EXPECT_TRUE(run.next_for(20ms).timed_out());
    EXPECT_TRUE(eventually([&] { return began > 0; }));
  }
}

TEST(InnerRun, EndsWhenNobodyWantsTheOuterPassAnyMore) {
  std::atomic<int> began{0};
  const auto either = [&](std::int64_t i) {
    return range(2).map([&, i, wait = waits_for_stop(began)](std::int64_t value, Context& context) {
      if (i == 1) return wait(value, context);
      eventually([&] { return began > 0; });
      return value;
    });
  };
  auto run = range(2).flat_map(either, {.parallelism = 2, .blocks = true}).take(1).repeat(2).start();
  EXPECT_EQ(run.next(), 0);
  EXPECT_EQ(run.next(), 0) << "the next pass, whose calls need not wait for those of the first one";
  EXPECT_EQ(run.next(), std::nullopt);
}

// Nobody's function runs: the inner run waits for an answer that does not come.
class NeverAnswers final : public ElementwiseOp {
 public:
  std::string name() const override { return "never"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  void start(Element, Context&, Completion completion) const override {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(completion));
  }
  mutable std::mutex mutex;
  mutable std::vector<Completion> kept;
};

TEST(InnerRun, ThatWaitsForAnAnswerEndsWithTheOuterRun) {
  const auto never = std::make_shared<NeverAnswers>();
  auto run =
      range(3).flat_map([&](std::int64_t) { return range(3).then<std::int64_t>(never); }, 2, {.blocks = true}).start();
  EXPECT_TRUE(run.next_for(20ms).timed_out());
}

// It is not the call's: others go on with it.
TEST(InnerRun, ThatWasMadeOutsideIsNotGivenUpWithACallThatReadsIt) {
  auto noise = range(1000)
                   .map([](std::int64_t value) { return std::this_thread::sleep_for(2ms), value; }, 1)
                   .start({.serial = true});
  const auto add_noise = [&noise](std::int64_t value) { return noise.next().value(), noise.next().value(), value; };
  auto run = range(3).map(add_noise, 1, {.blocks = true}).take(1).repeat(8).start();
  for (int pass = 0; pass < 8; ++pass) {
    EXPECT_EQ(run.next(), 0) << pass;
    std::this_thread::sleep_for(30ms);  // as long as it takes to see that nobody wants the second element
  }
  EXPECT_EQ(run.next(), std::nullopt);
}

// That call might wait for what the reader has, or is about to get: a buffer of a pool, say.
TEST(InnerRun, ThatWasBegunOutsideHasItsCallsOnOtherThreadsThanTheCallThatReadsIt) {
  static thread_local bool reads = false;
  std::atomic<int> worked{0};
  auto noise = range(500).map([&worked](std::int64_t value) { return worked += reads ? 1 : 0, value; }, 1).start();
  EXPECT_EQ(noise.next(), 0);
  const auto add_noise = [&noise](std::int64_t) {
    reads = true;
    const auto value = noise.next();
    reads = false;
    return *value;
  };
  auto run = range(499).map(add_noise, 1).start({.threads = 1});
  for (int i = 1; i < 500; ++i) ASSERT_EQ(run.next(), i);
  EXPECT_EQ(worked, 0);
}

TEST(InnerRun, ThatIsHandedToAnotherThreadIsNotGivenUpWithItsCall) {
  std::promise<std::shared_ptr<penstock::Run<std::int64_t>>> made;
  std::atomic<bool> is_read{false};
  const auto make = [&](std::int64_t value, Context& context) {
    made.set_value(std::make_shared<penstock::Run<std::int64_t>>(range(3).start()));
    while (!context.is_unwanted()) std::this_thread::sleep_for(1ms);
    eventually([&] { return is_read.load(); });
    return value;
  };
  auto outer = std::make_unique<penstock::Run<std::int64_t>>(range(1).map(make, 1, {.blocks = true}).start());
  EXPECT_TRUE(outer->next_for(1ms).timed_out());
  const auto inner = made.get_future().get();
  EXPECT_EQ(inner->next(), 0);
  std::thread ends([&] { outer.reset(); });
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(inner->next(), 1);
  EXPECT_EQ(inner->next(), 2);
  is_read = true;
  ends.join();
}

TEST(InnerRun, OfAGeneratorEndsWhenNobodyWantsThePassAnyMore) {
  std::atomic<int> began{0};
  const auto make = [&]() -> std::optional<std::int64_t> { return range(1).map(waits_for_stop(began)).start().next(); };
  auto run = from_generator(make, {.blocks = true}).start({.epochs = 2});
  EXPECT_TRUE(run.next_for(20ms).timed_out());
  EXPECT_TRUE(eventually([&] { return began > 0; }));
  run.epoch(1);
}

TEST(InnerRun, TellsWhoReadsItThatItHasBeenGivenUp) {
  const auto never = std::make_shared<NeverAnswers>();
  std::string said;
  std::atomic<bool> began{false};
  const auto loop = [&](std::int64_t) -> std::int64_t {
    auto inner = range(3).then<std::int64_t>(never).start();
    began = true;
    try {
      return inner.next().value();
    } catch (const Error& error) {
      said = std::string(to_string(error.code())) + ": " + error.what();
      throw;
    }
  };
  {
    auto run = range(3).map(loop, 1, {.blocks = true}).start();
    EXPECT_TRUE(run.next_for(20ms).timed_out());
    EXPECT_TRUE(eventually([&] { return began.load(); }));
  }
  EXPECT_EQ(said,
            "cancelled: the run has been given up: nobody wants the result of the call in which it is read. Return "
            "from there");
}

// A call that is unwanted reads on for a while; what it gets of a run that is not its own goes to the others.
TEST(InnerRun, ThatWasMadeOutsideLosesNothingToACallThatIsUnwanted) {
  const auto triple = [](std::int64_t value) {
    return range(3).map([value](std::int64_t i) { return 3 * value + i; });
  };
  std::atomic<int> told{0};
  const auto count_told = [&told](std::int64_t value, Context& context) {
    return told += context.is_unwanted(), value;
  };
  auto shared = range(60).flat_map(triple).map(count_told, 1).start({.serial = true});
  std::vector<std::int64_t> values;
  std::atomic<bool> waits{false};
  const auto reads = [&](std::int64_t value, Context& context) {
    waits = value == 1;
    while (value == 1 && !context.is_unwanted()) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 10; ++i) values.push_back(shared.next().value());
    return value;
  };
  {
    auto outer = range(2).map(reads, 1, {.blocks = true}).start();
    EXPECT_EQ(outer.next(), 0);
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
  }
  ASSERT_EQ(values.size(), 20u);
  while (const auto value = shared.next()) values.push_back(*value);
  std::vector<std::int64_t> all(180);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(values, all);
  EXPECT_EQ(told, 0) << "what its functions give is wanted";
}

// Then what its calls make is not the first call's, which is on another thread.
TEST(InnerRun, ThatAnotherThreadBeganHasCallsOfItsOwn) {
  const auto make = [](std::int64_t value) {
    for (int i = 0; i < 200; ++i) value += range(1).start().next().value_or(0);
    return value;
  };
  const auto reads = [&](std::int64_t value) {
    auto inner = range(20).map(make, 4).start();
    std::thread([&inner] { inner.knobs(); }).join();
    for (int i = 0; i < 20; ++i) value += inner.next().value() + make(0);
    return value;
  };
  auto outer = range(4).map(reads, 2, {.blocks = true}).start();
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(outer.next(), i + 190);
}

// It has threads of its own then; its functions wait for their token all the same.
TEST(InnerRun, ThatAnotherThreadBeganEndsWithTheCallThatReadsIt) {
  std::atomic<int> began{0};
  const auto reads = [&](std::int64_t value) {
    auto inner = range(1).map(waits_for_stop(began)).start();
    std::thread([&inner] { inner.knobs(); }).join();
    return value + inner.next().value_or(0);
  };
  auto outer = range(1).map(reads, 1, {.blocks = true}).start();
  EXPECT_TRUE(outer.next_for(20ms).timed_out());
  EXPECT_TRUE(eventually([&] { return began > 0; }));
}

// A struct whose size is told by reading a run.
std::atomic<int> measured{0};
struct Measured {
  std::int64_t value = 0;
};
std::size_t bytes_of(const Measured& element) {
  return sizeof(element.value) + (range(1).map(waits_for_stop(measured)).start().next() ? 0 : 1);
}

// With its block, or the test hangs.
TEST(InnerRun, ThatTellsWhatAnElementHoldsEndsWithTheOuterRun) {
  auto run = range(3).map([](std::int64_t i) { return Measured{i}; }).start();
  EXPECT_TRUE(run.next_for(5ms).timed_out());
  EXPECT_TRUE(eventually([] { return measured > 0; }));
}

// With its block, or the test hangs: a run made in a pass's first call, and read in all of them.
TEST(InnerRun, ThatAGeneratorKeepsForItsPassEndsWithThat) {
  std::atomic<int> began{0};
  const auto inner = range(10).map(
      [wait = waits_for_stop(began)](std::int64_t i, Context& context) { return i < 3 ? i : wait(i, context); });
  const auto make = [inner](Pass) {
    return [run = std::make_shared<IntegerRun>(inner.start())]() -> std::optional<std::int64_t> { return run->next(); };
  };
  auto outer = from_generator(make, {.blocks = true}).start({.epochs = 2});
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    began = 0;
    outer.epoch(epoch);
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(outer.next(), i);
    EXPECT_TRUE(eventually([&] { return began > 0; }));
  }
}

// Passes go on with the run of the first one, and have ended by themselves: it is not given up with the one that is
// cut.
TEST(InnerRun, ThatIsReadInSeveralPassesIsOfNone) {
  constexpr std::int64_t kCutAt = 7;
  std::atomic<bool> waits{false};
  SharedRun inner;
  const auto slow = [&](std::int64_t value) {
    if (value == kCutAt) waits = true;
    if (value == kCutAt) std::this_thread::sleep_for(60ms);  // longer than it takes to look
    return value;
  };
  const auto make = [&](Pass) {
    if (!inner) inner = std::make_shared<IntegerRun>(range(100).map(slow).start());
    return [&, left = 3]() mutable -> std::optional<std::int64_t> { return left-- > 0 ? inner->next() : std::nullopt; };
  };
  auto outer = from_generator(make, {.blocks = true}).repeat(4).start({.epochs = 2});
  while (!waits) outer.next_for(1ms);
  outer.epoch(1);
  const auto value = outer.next();
  ASSERT_TRUE(value.has_value());
  EXPECT_GT(*value, kCutAt);
}

TEST(InnerRun, ThatWasMadeACallFurtherInEndsWithTheCallThatReadsIt) {
  std::atomic<int> began{0};
  const auto make = [&](std::int64_t) {
    return std::make_shared<IntegerRun>(range(1).map(waits_for_stop(began)).start());
  };
  const auto reads = [&](std::int64_t value) {
    auto runs = range(3).map(make).start();
    while (const auto run = runs.next()) value += (*run)->next().value_or(0);
    return value;
  };
  auto outer = range(1).map(reads, 1, {.blocks = true}).start();
  EXPECT_TRUE(outer.next_for(20ms).timed_out());
  EXPECT_TRUE(eventually([&] { return began > 0; }));
}

// The call goes on with its group's next element, and is then not wanted any more.
TEST(InnerRun, ThatIsDeliveredIsTheConsumers) {
  std::atomic<bool> is_last{false};
  const auto make = [&](std::int64_t value, Context& context) {
    auto run = std::make_shared<IntegerRun>(range(3).start());
    run->next();
    is_last = value == 5;
    while (value == 5 && !context.is_unwanted()) std::this_thread::sleep_for(1ms);
    if (value == 5) std::this_thread::sleep_for(60ms);  // longer than it takes to look
    return run;
  };
  auto outer = std::make_unique<penstock::Run<SharedRun>>(range(6).map(make, 1).start());
  std::vector<SharedRun> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(outer->next().value());
  std::thread ends([&] { outer.reset(); });
  ends.join();
  for (const auto& run : runs) EXPECT_EQ(run->next(), 1);
}

// It may take its time, or end other runs, whose inner runs somebody has to look at meanwhile.
TEST(InnerRun, IsGivenUpWhileTheStopCallbackOfAnotherOneTakesItsTime) {
  std::atomic<int> began{0};
  const auto live = [&](std::int64_t) { return range(1).map(waits_for_stop(began)); };
  auto other = std::make_unique<IntegerRun>(range(1).flat_map(live, 1, {.blocks = true}).start());
  EXPECT_TRUE(other->next_for(20ms).timed_out());
  EXPECT_TRUE(eventually([&] { return began == 1; }));
  const auto ends_other = [&](std::int64_t value, Context& context) {
    const std::stop_callback callback(context.stop_token(), [&] { other.reset(); });
    return waits_for_stop(began)(value, context);
  };
  auto outer = range(1).flat_map([&](std::int64_t) { return range(1).map(ends_other); }, 1, {.blocks = true}).start();
  EXPECT_TRUE(outer.next_for(20ms).timed_out());
  EXPECT_TRUE(eventually([&] { return began == 2; }));
}

TEST(InnerRun, ThatIsGivenUpEndsBehindItsError) {
  int errors = 0;
  std::atomic<int> began{0};
  const auto reads = [&](std::int64_t value) {
    auto inner = range(5).map(waits_for_stop(began)).start();
    for (bool ended = false; !ended;) {
      try {
        ended = !inner.next();
      } catch (const std::exception&) {
        ++errors;
      }
    }
    return value;
  };
  {
    auto outer = range(1).map(reads, 1, {.blocks = true}).start();
    EXPECT_TRUE(outer.next_for(20ms).timed_out());
    EXPECT_TRUE(eventually([&] { return began > 0; }));
  }
  EXPECT_EQ(errors, 1);
}

}  // namespace
}  // namespace penstock
