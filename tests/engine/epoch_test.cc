// Epochs and repeats: whose order depends on their number alone, and what is not computed.
#include <optional>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

template <class T> Texts epoch_of(Run<T>& run, std::uint32_t number) {
  run.epoch(number);
  return rest_of(run);
}

Dataset<std::int64_t> shuffled(std::int64_t buffer) {
  return range(40).map(plus_one).shuffle(buffer, {.seed = 5}).map(plus_one);
}

TEST(Epochs, DependOnTheirNumberAlone) {
  const auto data = shuffled(10);
  auto forward = data.start();
  const Texts zero = epoch_of(forward, 0), one = epoch_of(forward, 1), two = epoch_of(forward, 2);
  EXPECT_NE(zero, one);
  EXPECT_NE(one, two);
  auto backward = data.start();
  EXPECT_EQ(epoch_of(backward, 2), two);
  EXPECT_EQ(epoch_of(backward, 1), one);
  EXPECT_EQ(epoch_of(backward, 1), one);
  EXPECT_EQ(epoch_of(backward, 0), zero);
  auto late = data.start({.first_epoch = 2});
  EXPECT_EQ(rest_of(late), two);
}

TEST(Epochs, AreTheSameAfterALoopThatWasLeftEarly) {
  const auto data = shuffled(10);
  auto whole = data.start();
  epoch_of(whole, 0);
  const Texts one = epoch_of(whole, 1);
  for (int taken : {0, 1, 7, 39}) {
    auto run = data.start();
    run.epoch(0);
    for (int i = 0; i < taken; ++i) run.next();
    EXPECT_EQ(epoch_of(run, 1), one) << "after " << taken << " elements of epoch 0";
  }
}

// Asked for once more it begins anew, whether it has ended or not; not before anything of it has been taken.
TEST(Epochs, CanBeBegunAgainBeforeTheirEnd) {
  const auto data = shuffled(10);
  auto whole = data.start();
  const Texts zero = epoch_of(whole, 0), one = epoch_of(whole, 1);
  for (const RunOptions& options :
       {RunOptions{}, RunOptions{.epochs = 3}, RunOptions{.serial = true}, RunOptions{.epochs = 3, .serial = true}}) {
    for (int taken : {0, 1, 2, 39, 40}) {
      auto run = data.start(options);
      for (int round = 0; round < 3; ++round) {
        run.epoch(0);
        for (int i = 0; i < taken; ++i) run.next();
      }
      EXPECT_EQ(epoch_of(run, 0), zero) << "after " << taken << " elements of it";
      run.epoch(1);
      for (int i = 0; i < taken; ++i) run.next();
      EXPECT_EQ(epoch_of(run, 1), one) << "after " << taken << " elements of it";
    }
  }
}

TEST(Epochs, ReadAheadAcrossTheirBorderGivesTheSame) {
  const auto data = shuffled(7).batch(3).prefetch(64);
  auto one_by_one = data.start();
  auto ahead = data.start({.epochs = 4});
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch)
    EXPECT_EQ(epoch_of(ahead, epoch), epoch_of(one_by_one, epoch)) << "epoch " << epoch;
}

TEST(Epochs, AskedForInAnotherOrderThanAnnouncedAreRightAllTheSame) {
  const auto data = shuffled(7);
  auto plain = data.start();
  auto ahead = data.start({.epochs = 5});
  for (std::uint32_t epoch : {0u, 3u, 1u, 2u, 9u}) {
    const Texts expected = epoch_of(plain, epoch);
    EXPECT_EQ(epoch_of(ahead, epoch), expected) << "epoch " << epoch;
  }
}

TEST(Epochs, AnnouncedAndLeftEarlyGiveTheNextOneWhole) {
  const auto data = shuffled(7);
  auto plain = data.start();
  epoch_of(plain, 0);
  const Texts one = epoch_of(plain, 1), two = epoch_of(plain, 2);
  auto ahead = data.start({.epochs = 3});
  ahead.next();
  EXPECT_EQ(epoch_of(ahead, 1), one);
  EXPECT_EQ(epoch_of(ahead, 2), two);
}

TEST(Epochs, OfAPlainLoopCountUpAlsoWhenOneWasLeftEarly) {
  const auto data = shuffled(10);
  auto run = data.start();
  epoch_of(run, 0);
  const Texts one = epoch_of(run, 1), two = epoch_of(run, 2);
  for (std::int64_t value : data) {
    EXPECT_GE(value, 2);
    break;
  }
  Texts looped;
  for (std::int64_t value : data) looped.push_back(text_of(value));
  EXPECT_EQ(looped, one);
  const auto copy = data;
  looped.clear();
  for (std::int64_t value : copy) looped.push_back(text_of(value));
  EXPECT_EQ(looped, two);
}

TEST(Epochs, StopAtTheirEndUnlessMoreAreAnnounced) {
  CallCounter counter;
  auto run = range(10).map(counted_sleep(counter, 0us)).prefetch(100).start();
  EXPECT_EQ(rest_of(run).size(), 10u);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(counter.calls(), 10);
  auto ahead = range(10).map(counted_sleep(counter, 0us)).prefetch(100).start({.epochs = 2});
  EXPECT_EQ(rest_of(ahead).size(), 10u);
  EXPECT_TRUE(eventually([&] { return counter.calls() == 30; }));
}

// knobs() starts the engine, on whichever thread it is called.
TEST(Epochs, AreTheSameWhileAnotherThreadAsksForTheKnobs) {
  const auto data = shuffled(10);
  auto plain = data.start();
  const Texts five = epoch_of(plain, 5);
  for (int round = 0; round < 50; ++round) {
    auto run = data.start();
    std::jthread watcher([&run] { run.knobs(); });
    ASSERT_EQ(epoch_of(run, 5), five) << "round " << round;
  }
}

TEST(Epochs, AreNotLeftByTheRunsOwnFunction) {
  std::optional<IntegerRun> run;
  std::atomic<bool> refused{false};
  const auto data = range(100).map([&](std::int64_t value) {
    if (value != 50) return value;
    try {
      run->epoch(1);
    } catch (const Error& error) {
      refused = error.code() == ErrorCode::failed_precondition;
    }
    return value;
  });
  run.emplace(data.start({.serial = true}));
  EXPECT_EQ(rest_of(*run), numbers(0, 100));
  EXPECT_TRUE(refused);
}

// -------------------------------------------------------------------------------- repeats

TEST(Repeat, OfATakeDoesNotComputeTheRest) {
  CallCounter counter;
  const auto data = range(1'000'000).map(counted_sleep(counter, 0us), 4).take(5).repeat(3);
  auto run = data.start();
  const Texts all = rest_of(run);
  EXPECT_EQ(all.size(), 15u);
  EXPECT_EQ(Texts(all.begin() + 10, all.end()), numbers(0, 5));
  std::int64_t ahead = 0;  // what the stages may have had under way, per pass
  for (const StageSnapshot& stage : run.snapshot().stages) ahead += stage.window + stage.buffer + 600;
  EXPECT_LE(counter.calls(), 3 * (5 + ahead));
}

TEST(Repeat, OfASerialTakeComputesWhatItTakes) {
  CallCounter counter;
  const auto data = range(1000).map(counted_sleep(counter, 0us)).take(5).repeat(3);
  EXPECT_EQ(read(data, {.serial = true}).size(), 15u);
  EXPECT_LE(counter.calls(), 3 * (5 + 2));
}

TEST(Repeat, ForEverOfNothingEnds) {
  const auto nothing = [](std::int64_t) { return false; };
  EXPECT_EQ(read(range(100).filter(nothing).repeat()), Texts{});
  EXPECT_EQ(read(range(100).filter(nothing).repeat(), {.serial = true}), Texts{});
  EXPECT_EQ(read(range(0).repeat()), Texts{});
  EXPECT_EQ(read(range(10).take(0).repeat().batch(2)), Texts{});
}

TEST(Repeat, ForEverSaysNothingOfPassesThatNobodyWants) {
  const auto passes = range(3).repeat().take(7).repeat(20);
  ::testing::internal::CaptureStderr();
  for (int round = 0; round < 10; ++round) EXPECT_EQ(read(passes, {.threads = 2}).size(), 140u);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Repeat, ForEverOfErrorsAloneGoesOn) {
  auto run = range(1).map(failing_at(0)).repeat().start();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(next_text(run), "x0");
}

TEST(Repeat, Nests) {
  const auto data = range(2).map(plus_one).repeat(2).batch(3).repeat(3).unbatch().repeat(2);
  Texts expected;
  for (int i = 0; i < 12; ++i) expected.insert(expected.end(), {"1", "2"});
  EXPECT_EQ(read(data), expected);
  EXPECT_EQ(read(data, {.serial = true}), expected);
}

TEST(Repeat, NestedBehindTakesGivesWhatListsGive) {
  const auto data = range(10).map(plus_one).take(3).repeat(3).take(7).repeat(2).skip(1);
  const Texts outer = {"1", "2", "3", "1", "2", "3", "1"};
  Texts expected(outer.begin() + 1, outer.end());
  expected.insert(expected.end(), outer.begin(), outer.end());
  EXPECT_EQ(read(data), expected);
  EXPECT_EQ(read(data, {.serial = true}), expected);
}

TEST(Repeat, DrawsAnotherOrderEachPassAndTheSameInEachRun) {
  const auto data = range(30).map(plus_one).shuffle(30, {.seed = 1}).repeat(3);
  const Texts first = read(data);
  EXPECT_EQ(read(data), first);
  EXPECT_EQ(read(data, {.serial = true}), first);
  ASSERT_EQ(first.size(), 90u);
  EXPECT_NE(Texts(first.begin(), first.begin() + 30), Texts(first.begin() + 30, first.begin() + 60));
}

TEST(Repeat, OfAGeneratorStartsEachPassFromItsCopy) {
  const auto data =
      from_generator([i = std::int64_t{0}]() mutable { return i < 3 ? std::optional(i++) : std::nullopt; }).repeat(2);
  EXPECT_EQ(read(data), (Texts{"0", "1", "2", "0", "1", "2"}));
}

// Calls of the epoch that has been read ahead, too, or this hangs.
TEST(Epoch, LetsGoOfAllThatWasReadAhead) {
  std::atomic<int> began{0};
  const auto wait = [&](std::int64_t value, Context& context) {
    began += value == 1;
    while (value == 1 && !context.is_unwanted()) std::this_thread::sleep_for(1ms);
    return value;
  };
  auto run = range(2).map(wait, {.parallelism = 4, .blocks = true}).start({.epochs = 3});
  EXPECT_EQ(run.next(), 0);
  EXPECT_TRUE(eventually([&] { return began >= 2; })) << "of two epochs";
  run.epoch(2);
  EXPECT_EQ(run.next(), 0);
}

}  // namespace
}  // namespace penstock
