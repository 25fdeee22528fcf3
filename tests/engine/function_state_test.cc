// Functions that change when they are called: whose state it is, and when it begins anew.
#include <atomic>
#include <memory>
#include <new>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

// How often it was called before.
auto counting_calls() {
  return [calls = std::int64_t{0}](std::int64_t) mutable { return calls++; };
}

TEST(FunctionState, BeginsAnewInEachRunAndEpoch) {
  const auto data = range(3).map(counting_calls(), 1);
  for (const bool serial : {false, true}) {
    auto run = data.start({.serial = serial});
    EXPECT_EQ(rest_of(run), numbers(0, 3));
    run.epoch(1);
    EXPECT_EQ(rest_of(run), numbers(0, 3));
  }
}

TEST(FunctionState, IsThatOfOneRunWhereSeveralGoOnAtOnce) {
  const auto data = range(20).map(counting_calls(), 1);
  auto first = data.start();
  auto second = data.start();
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(first.next(), i);
    EXPECT_EQ(second.next(), i);
  }
}

TEST(FunctionState, BeginsAnewInEachPassOfARepeatBehindIt) {
  EXPECT_EQ(read(range(2).map(counting_calls(), 1).repeat(2)), (Texts{"0", "1", "0", "1"}));
  EXPECT_EQ(read(range(2).repeat(2).map(counting_calls(), 1)), (Texts{"0", "1", "2", "3"})) << "one pass of two rounds";
  EXPECT_EQ(read(range(2).repeat(2).map(counting_calls(), 1).repeat(2)),
            (Texts{"0", "1", "2", "3", "0", "1", "2", "3"}));
}

TEST(FunctionState, OfFilterAndFlatMapBeginsAnewToo) {
  const auto every_other = [calls = 0](std::int64_t) mutable { return calls++ % 2 == 0; };
  EXPECT_EQ(read(range(3).filter(every_other, {.parallelism = 1}).repeat(2)), (Texts{"0", "2", "0", "2"}));
  const auto as_many = [calls = std::int64_t{0}](std::int64_t value) mutable {
    return std::vector<std::int64_t>(static_cast<std::size_t>(calls++), value);
  };
  EXPECT_EQ(read(range(3).flat_map(as_many, 1).repeat(2)), (Texts{"1", "2", "2", "1", "2", "2"}));
}

// The n-th element of a pass becomes 0 to n - 1.
auto counting_datasets() {
  return [calls = std::int64_t{0}](std::int64_t) mutable { return range(++calls); };
}

TEST(FunctionState, OfAFlatMapToDatasetsBeginsAnewToo) {
  const auto one = range(3).flat_map(counting_datasets(), 1);
  const Texts pass{"0", "0", "1", "0", "1", "2"};
  const Texts twice{"0", "0", "1", "0", "1", "2", "0", "0", "1", "0", "1", "2"};
  for (const bool serial : {false, true}) {
    const RunOptions options{.serial = serial};
    EXPECT_EQ(read(one.repeat(2), options), twice);
    EXPECT_EQ(read(range(3).repeat(2).flat_map(counting_datasets(), 1).take(7), options),
              (Texts{"0", "0", "1", "0", "1", "2", "0"}))
        << "one pass of two rounds";
    EXPECT_EQ(read(range(2).interleave([&](std::int64_t) { return one; }, {.cycle_length = 1}), options), twice);
    auto run = one.start(options);
    EXPECT_EQ(run.next(), 0);
    run.epoch(1);
    EXPECT_EQ(rest_of(run), pass);
  }
}

TEST(FunctionState, IsNotKeptFromARunThatWasLeft) {
  const auto data = range(100).map(counting_calls(), 1);
  {
    auto run = data.start();
    for (int i = 0; i < 10; ++i) run.next();
  }
  auto run = data.start();
  EXPECT_EQ(run.next(), 0);
}

TEST(FunctionState, IsWhatItWasWhereARunIsResumed) {
  const auto data = range(20).map(counting_calls(), 1).batch(3);
  auto first = data.start();
  for (int i = 0; i < 3; ++i) first.next();
  const auto saved = std::make_shared<Checkpoint>(first.checkpoint());
  auto second = data.start({.resume_from = saved});
  EXPECT_EQ(rest_of(second), rest_of(first));
}

struct Uncopyable {
  std::unique_ptr<int> value = std::make_unique<int>(0);
  std::int64_t operator()(std::int64_t x) { return x + ++*value; }
};

// Copied for the pass 0, for the pass 1 in vain, for the pass 2.
struct FailsToBeCopiedOnce {
  std::shared_ptr<std::atomic<int>> copies = std::make_shared<std::atomic<int>>(0);
  int failing = 0;
  std::int64_t calls = 0;

  explicit FailsToBeCopiedOnce(int copy) : failing(copy) {}
  FailsToBeCopiedOnce(FailsToBeCopiedOnce&&) = default;
  FailsToBeCopiedOnce(const FailsToBeCopiedOnce& other)
      : copies(other.copies), failing(other.failing), calls(other.calls) {
    if (++*copies == failing) throw std::bad_alloc();
  }
  std::int64_t operator()(std::int64_t) { return calls++; }
};

TEST(FunctionState, ThatCannotBeCopiedFailsItsWholePass) {
  for (const bool serial : {false, true}) {
    auto run = range(100).map(FailsToBeCopiedOnce(2), 1).repeat(3).start({.serial = serial});
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(run.next(), i);
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_THROW(run.next(), ElementError) << i;
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(run.next(), i) << "the next pass has a copy of its own";
    EXPECT_EQ(run.next(), std::nullopt);
  }
}

TEST(FunctionState, ThatCannotBeCopiedIsRefused) {
  EXPECT_ERROR(range(3).map(Uncopyable(), 1), ErrorCode::invalid_argument, "must be copyable");
  struct Constant {
    std::unique_ptr<int> value = std::make_unique<int>(1);
    std::int64_t operator()(std::int64_t x) const { return x + *value; }
  };
  EXPECT_EQ(read(range(3).map(Constant())), numbers(1, 4));
}

}  // namespace
}  // namespace penstock
