// Elements that become very many: their results leave in parts.
#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "tests/engine/support.h"
#include "tests/support/environment.h"

namespace penstock {
namespace {

using namespace testing;

// Element i becomes i * width, i * width + 1, ...
auto wide(std::int64_t width) {
  return [width](std::int64_t i) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(width));
    for (std::int64_t k = 0; k < width; ++k) list[static_cast<std::size_t>(k)] = i * width + k;
    return list;
  };
}

TEST(FanOut, OfAMillionStaysWithinTheBudgetWithItsSlots) {
  constexpr std::size_t kList = 1'000'000 * sizeof(std::int64_t);
  const std::int64_t lists = test::is_smallest() ? 3 : 6;
  for (const bool apart : {false, true}) {
    const auto data =
        apart ? range(lists).map(wide(1'000'000), 2).unbatch() : range(lists).flat_map(wide(1'000'000), 2);
    auto run = data.start({.memory_bytes = 2 * kList});
    std::int64_t count = 0;
    while (auto value = run.next()) ASSERT_EQ(*value, count++);
    EXPECT_EQ(count, lists * 1'000'000);
    EXPECT_LE(run.stats().memory_peak, static_cast<std::int64_t>(5 * kList))
        << "two first calls that nobody can foretell, and one element in each stage beyond";
    EXPECT_EQ(run.snapshot().memory_used, 0);
  }
}

// With little memory parts are of some slots only.
TEST(FanOut, GivesTheSameInPartsOfAnySize) {
  const auto data = range(7).flat_map(wide(2500), 3).map(plus_one, 2);
  for (const std::size_t memory :
       {std::size_t{1}, std::size_t{64} * 1024, std::size_t{1} << 20, std::size_t{1} << 30}) {
    EXPECT_EQ(read(data, {.memory_bytes = memory}), numbers(1, 7 * 2500 + 1)) << memory;
  }
  EXPECT_EQ(read(data, {.serial = true}), numbers(1, 7 * 2500 + 1));
}

TEST(FanOut, InArbitraryOrderLosesNothing) {
  auto texts =
      read(range(40).flat_map(wide(1500), {.parallelism = 4, .order = Order::arbitrary}), {.memory_bytes = 1 << 20});
  auto expected = numbers(0, 40 * 1500);
  std::ranges::sort(texts);
  std::ranges::sort(expected);
  EXPECT_EQ(texts, expected);
}

// Empty lists, lists of one, errors and dropped elements before, between and behind large ones.
TEST(FanOut, KeepsItsPlaceAmongWhatIsSmallOrFails) {
  const auto list = [](std::int64_t i) {
    if (i % 5 == 3) throw std::runtime_error("planted");
    return std::vector<std::int64_t>(static_cast<std::size_t>(i % 5 == 1 ? 3000 : i % 5 == 4 ? 0 : i % 5), i);
  };
  Texts expected;
  for (std::int64_t i = 0; i < 30; ++i) {
    if (i % 5 == 3) {
      expected.push_back("x" + std::to_string(i));
    } else {
      for (const std::int64_t value : list(i)) expected.push_back(std::to_string(value));
    }
  }
  for (const std::int64_t calls : {1, 3}) {
    EXPECT_EQ(read(range(30).flat_map(list, calls)), expected);
    EXPECT_EQ(read(range(30).flat_map(list, calls), {.memory_bytes = 1 << 20}), expected);
  }
}

TEST(FanOut, EndsInItsMiddleWithATake) {
  const auto data = range(3).flat_map(wide(100'000), 2).take(1500).repeat(3);
  Texts expected;
  for (int pass = 0; pass < 3; ++pass) {
    for (const std::string& text : numbers(0, 1500)) expected.push_back(text);
  }
  EXPECT_EQ(read(data), expected);
  EXPECT_EQ(read(data, {.memory_bytes = 1 << 20}), expected);
}

// Calls in pairs: each waits for another one.
class Pairs {
 public:
  void meet() {
    std::unique_lock lock(mutex_);
    const int pair = arrived_++ / 2;
    changed_.notify_all();
    if (!changed_.wait_for(lock, kPatience, [&] { return arrived_ / 2 > pair; }))
      throw std::runtime_error("no other call has come");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

// What was folded of a pass that was cut is forgotten: in the next one, two calls run at once as before.
TEST(FanOut, CutByATakeLeavesNothingThatHoldsUpTheNextPass) {
  Pairs pairs;
  const auto list = [&pairs](std::int64_t, Context& context) {
    if (context.stamp().pass > 0) pairs.meet();
    return std::vector<std::string>(2000, std::string(1000, 'x'));
  };
  auto run =
      range(2).flat_map(list, {.parallelism = 2, .blocks = true}).take(2500).repeat(3).start({.memory_bytes = 7 << 20});
  std::int64_t count = 0;
  while (run.next()) ++count;
  EXPECT_EQ(count, 7500);
}

// The epoch is given up while most of its lists are folded: they are off the books, and the next epoch is whole.
TEST(FanOut, IsLetGoWithItsEpoch) {
  auto run = range(8).flat_map(wide(50'000), 2).start({.memory_bytes = 4 * MiB});
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    run.epoch(epoch);
    for (std::int64_t i = 0; i < 1100; ++i) ASSERT_EQ(next_text(run), std::to_string(i));
  }
  EXPECT_EQ(rest_of(run), numbers(1100, 8 * 50'000));
  EXPECT_EQ(run.snapshot().memory_used, 0);
}

TEST(FanOut, IsResumedAtAnyOfItsElements) {
  const auto data = range(3).flat_map(wide(2500), 2);
  for (const std::int64_t taken : {0, 1, 1023, 1024, 1025, 2499, 2500, 2501, 6000}) {
    auto run = data.start();
    for (std::int64_t i = 0; i < taken; ++i) run.next();
    const auto checkpoint = std::make_shared<const Checkpoint>(run.checkpoint());
    EXPECT_EQ(read(data, {.resume_from = checkpoint}), numbers(taken, 7500)) << taken;
  }
}

// The second call waits until the consumer has had most of the first one's results. There is but one call at a time.
TEST(FanOut, GoesOnWhileAllCallsWaitForItsConsumer) {
  for (const bool blocks : {true, false}) {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t taken = 0;
    const auto list = [&](std::int64_t i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return taken >= 4900 * i; });
      return wide(5000)(i);
    };
    auto run = range(3).flat_map(list, {.parallelism = 1, .blocks = blocks}).start();
    for (std::int64_t i = 0; i < 15'000; ++i) {
      ASSERT_EQ(next_text(run), std::to_string(i));
      const std::lock_guard lock(mutex);
      ++taken;
      changed.notify_all();
    }
    EXPECT_EQ(next_text(run), "end");
  }
}

// Whose first call is broken off, when the list behind it is there already.
class BrokenOffOnce final : public ElementwiseOp {
 public:
  std::string name() const override { return "broken_off_once"; }
  Flow flow(const Flow&) const override { return {}; }
  Tunable parallelism() const override { return 2; }
  void run(std::span<Slot> slots, Context& context) const override {
    for (Slot& slot : slots) {
      context.enter(slot, slots.size() == 1);
      const auto i = std::as_const(slot.value).get<std::int64_t>();
      if (i == 0 && !std::exchange(tried_, true)) {
        EXPECT_TRUE(eventually([this] { return other_is_done_.load(); }));
        std::this_thread::sleep_for(20ms);  // until it is sealed: sooner, and there is merely nothing to see
        context.reserve(kBudget);
      }
      std::vector<Element> list;
      for (const std::int64_t value : wide(kWidth)(i)) list.emplace_back(value);
      slot.emit_many(std::move(list));
      other_is_done_ = other_is_done_ || i == 1;
    }
  }

  static constexpr std::size_t kBudget = 4 * MiB;
  static constexpr std::int64_t kWidth = 100'000;

 private:
  mutable std::atomic<bool> other_is_done_{false};
  mutable bool tried_ = false;  // by the only call for element 0
};

TEST(FanOut, DoesNotKeepAnEarlierElementFromBeginningAgain) {
  const auto data = range(4).then<std::int64_t>(std::make_shared<BrokenOffOnce>());
  EXPECT_EQ(read(data, {.memory_bytes = BrokenOffOnce::kBudget}), numbers(0, 4 * BrokenOffOnce::kWidth));
}

// What a list holds is on the books until its elements have slots.
TEST(FanOut, IsOnTheBooksWhileItIsFolded) {
  auto run =
      range(1).flat_map([](std::int64_t) { return std::vector<std::string>(10'000, std::string(1000, 'x')); }).start();
  run.next();
  EXPECT_GT(run.snapshot().memory_used, 8'000'000);
  EXPECT_GT(run.snapshot().stages.at(1).bytes_held, 6'000'000) << "the stage has most of it";
  for (int taken = 1; taken < 5000; ++taken) run.next();
  EXPECT_NEAR(static_cast<double>(run.snapshot().memory_used), 5e6, 1e6);
  while (run.next()) {
  }
  EXPECT_EQ(run.snapshot().memory_used, 0);
}

// A struct that nobody can see into, and a hint that tells what there is to see.
struct Opaque {
  std::vector<char> memory = std::vector<char>(1000);
};
TEST(FanOut, OfATypeThatNobodyCanSeeIntoIsWhatTheHintSays) {
  const auto list = [](std::int64_t) { return std::vector<Opaque>(10'000); };
  const auto hint = [](std::int64_t) { return std::size_t{10'000'000}; };
  auto run = range(1).flat_map(list, {.bytes_hint = hint}).start();
  run.next();
  EXPECT_NEAR(static_cast<double>(run.snapshot().memory_used), 1e7, 2e6);
  while (run.next()) {
  }
  EXPECT_EQ(run.snapshot().memory_used, 0);
}

// ------------------------------------------------------------------------------------------------ what stream ops keep

// Keeps all of a pass and gives it one by one, the last `rest` of them at its end.
class KeepsAll final : public StreamOp {
 public:
  explicit KeepsAll(std::size_t rest, std::int64_t bad = -1) : rest_(rest), bad_(bad) {}
  std::string name() const override { return "keeps_all"; }
  Flow flow(const Flow& input) const override { return input; }
  std::int64_t elements_held() const override { return std::numeric_limits<std::int64_t>::max(); }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(rest_, bad_); }

 private:
  class State final : public StreamState {
   public:
    State(std::size_t rest, std::int64_t bad) : rest_(rest), bad_(bad) {}
    void begin_pass(Emitter&) override {
      kept_.clear();
      given_ = 0;
    }
    void element(Slot&& slot, Emitter&) override { kept_.push_back(std::move(slot)); }
    bool flush(Emitter& out) override {
      if (kept_.size() - given_ <= rest_) return false;
      if (static_cast<std::int64_t>(given_) == bad_) throw std::runtime_error("planted");
      give(out);
      return true;
    }
    void pass_end(Emitter& out) override {
      while (given_ < kept_.size()) give(out);
    }

   private:
    void give(Emitter& out) {
      Slot& slot = kept_[given_++];
      out.emit(std::move(slot.value), slot.stamp);
    }

    const std::size_t rest_;
    const std::int64_t bad_;
    std::vector<Slot> kept_;
    std::size_t given_ = 0;
  };

  const std::size_t rest_;
  const std::int64_t bad_;
};

Dataset<std::int64_t> kept(std::int64_t count, std::size_t rest, std::int64_t bad = -1) {
  return range(count).map(plus_one).then<std::int64_t>(std::make_shared<KeepsAll>(rest, bad));
}

TEST(Flush, GivesAllInPartsAndTheRestAtTheEndOfThePass) {
  for (const std::size_t rest : {0, 1, 300, 5000}) {
    EXPECT_EQ(read(kept(5000, rest)), numbers(1, 5001)) << rest;
    EXPECT_EQ(read(kept(5000, rest), {.serial = true}), numbers(1, 5001)) << rest;
  }
}

TEST(Flush, EndsEachPassBeforeTheNextBegins) {
  Texts expected;
  for (int pass = 0; pass < 3; ++pass) {
    for (const std::string& text : numbers(1, 1001)) expected.push_back(text);
  }
  EXPECT_EQ(read(kept(1000, 10).repeat(3)), expected);
}

// The op is not asked again; what it has left it gives at the end.
TEST(Flush, ThatThrowsIsOneErrorAndCostsNothingElse) {
  auto texts = read(kept(1000, 0, 700));
  EXPECT_EQ(std::erase_if(texts, [](const std::string& text) { return text.front() == 'x'; }), 1u);
  EXPECT_EQ(texts, numbers(1, 1001));
}

TEST(Flush, StopsWhereNobodyWantsThePassAnyMore) {
  auto run = kept(10'000, 0).take(10).repeat(3).start();
  Texts expected;
  for (int pass = 0; pass < 3; ++pass) {
    for (const std::string& text : numbers(1, 11)) expected.push_back(text);
  }
  EXPECT_EQ(rest_of(run), expected);
  EXPECT_TRUE(eventually([&] { return run.snapshot().memory_used == 0; }))
      << "what the stages before the take have left goes in its own time";
}

// Its results are not in memory a second time while the consumer takes them.
TEST(Flush, OfAShuffleHoldsNoMoreThanTheShuffle) {
  constexpr std::int64_t kCount = 25'000;
  auto run = range(kCount).map(plus_one).shuffle(UNKNOWN_CARDINALITY, {.seed = 1}).start({.memory_bytes = 1 << 18});
  auto texts = rest_of(run);
  std::ranges::sort(texts);
  auto expected = numbers(1, kCount + 1);
  std::ranges::sort(expected);
  EXPECT_EQ(texts, expected);
  EXPECT_LE(run.stats().memory_peak, kCount * 64 + (1 << 18));
}

TEST(Flush, OfAShuffleIsResumedAnywhere) {
  const auto data = range(3000).map(plus_one).shuffle(2000, {.seed = 5});
  const Texts whole = read(data);
  for (const std::size_t taken : {0, 999, 1000, 1001, 1257, 2999}) {
    auto run = data.start();
    for (std::size_t i = 0; i < taken; ++i) run.next();
    const auto checkpoint = std::make_shared<const Checkpoint>(run.checkpoint());
    EXPECT_EQ(read(data, {.resume_from = checkpoint}),
              Texts(whole.begin() + static_cast<std::ptrdiff_t>(taken), whole.end()))
        << taken;
  }
}

}  // namespace
}  // namespace penstock
