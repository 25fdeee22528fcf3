// Dataset::at(): one element, made by what makes it alone.
#include <penstock/penstock.h>

#include <atomic>
#include <stdexcept>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

std::int64_t squared(std::int64_t x) { return x * x; }

// Each element of at() is that of a loop, and there are no others.
template <class T> void expect_as_in_a_loop(const Dataset<T>& data) {
  std::int64_t index = 0;
  auto run = data.start({.first_epoch = 0});
  while (const auto element = run.next()) EXPECT_EQ(data.at(index++), *element);
  EXPECT_ERROR(data.at(index), ErrorCode::invalid_argument, "there is no element " + std::to_string(index));
  EXPECT_ERROR(data.at(-1), ErrorCode::invalid_argument, "there is no element -1");
}

TEST(At, GivesWhatALoopGives) {
  expect_as_in_a_loop(range(0));
  expect_as_in_a_loop(range(1));
  expect_as_in_a_loop(range(10).shuffle(10, {.seed = 3}).shard(3, 1).map(squared).prefetch());
  expect_as_in_a_loop(from_vector(std::vector<std::string>{"a", "b", "c"}).skip(1));
  expect_as_in_a_loop(concatenate(std::vector{range(3), range(20, 25)}).shuffle(8, {.seed = 1}).map(squared));
  expect_as_in_a_loop(zip(range(5), range(10, 14)).enumerate());
  expect_as_in_a_loop(range(10).batch(3));
  expect_as_in_a_loop(range(10).batch(3, {.drop_remainder = true}));
  expect_as_in_a_loop(range(25).map(squared).batch(2).batch(3));
}

TEST(At, HasTheRandomNumbersOfEpochZero) {
  const auto drawn = [](std::int64_t x, Context& context) { return 1000 * x + context.rng().uniform(0, 1000); };
  expect_as_in_a_loop(range(20).shuffle(20, {.seed = 5}).map(drawn));
}

// The one before it, too, as each resumed run.
TEST(At, RunsOnlyWhatMakesTheElement) {
  std::atomic<int> calls{0};
  const auto counted = [&calls](std::int64_t x) {
    ++calls;
    return x;
  };
  EXPECT_EQ(range(1'000'000).map(counted).at(765'432), 765'432);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(range(1'000'000'000'000).batch(4).at(100'000'000),
            (std::vector<std::int64_t>{400'000'000, 400'000'001, 400'000'002, 400'000'003}));
}

// Nobody knows how many there are of each list, but which they are.
TEST(At, WorksBehindSampleFrom) {
  const auto mixed = sample_from(std::vector{range(5), range(10, 17)}, {.seed = 3});
  auto run = mixed.map(squared).start();
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(mixed.map(squared).at(i), run.next());
  const auto is_even = [](std::int64_t x) { return x % 2 == 0; };
  EXPECT_ERROR(mixed.filter(is_even).at(3), ErrorCode::failed_precondition, "filter (op 3)");
}

// Epoch 0, pass 0: not the pass of the run whose function asks.
TEST(At, GivesTheSameInsideARun) {
  const auto inner = range(10).shuffle(10, {.seed = 4});
  const auto outer = range(1).repeat(3).map([inner](std::int64_t) { return inner.at(0) * 100 + inner.at(1); });
  for (const std::int64_t both : outer) EXPECT_EQ(both, inner.at(0) * 100 + inner.at(1));
}

TEST(At, WorksBehindWhatNeverEnds) { EXPECT_EQ(counter(5, 2).at(1'000'000'000'000), 2'000'000'000'005); }

TEST(At, ThrowsWhatTheElementsFunctionThrew) {
  const auto fails = [](std::int64_t x) { return x == 3 ? throw std::runtime_error("no three") : x; };
  EXPECT_THROW(range(5).map(fails).at(3), ElementError);
  EXPECT_EQ(range(5).map(fails).at(4), 4);
}

TEST(At, NamesTheOpBehindWhichNobodyKnows) {
  const auto refuses = [](const auto& data, const std::string& op) {
    EXPECT_ERROR(data.at(0), ErrorCode::failed_precondition, "which elements " + op + " makes an element of");
  };
  const auto is_even = [](std::int64_t x) { return x % 2 == 0; };
  refuses(range(9).filter(is_even).map(squared), "filter (op 1)");
  refuses(range(9).map(squared, {.order = Order::arbitrary, .name = "mine"}), "map 'mine' (op 1)");
  refuses(range(9).map([sum = std::int64_t{0}](std::int64_t x) mutable { return sum += x; }, 1), "map (op 1)");
  refuses(range(9).map(squared).shuffle(3, {.seed = 1}), "shuffle (op 2)");
  refuses(range(9).repeat(2), "repeat (op 1)");
  refuses(zip(range(3).map(squared), range(3)), "zip (op 3)");
  refuses(from_generator([] { return std::optional<std::int64_t>(); }), "from_generator (op 0)");
}

TEST(At, OfAnEmptyDatasetTellsSo) {
  EXPECT_ERROR(Dataset<int>(nullptr).at(0), ErrorCode::invalid_argument, "the dataset is empty");
}

}  // namespace
}  // namespace penstock
