// shuffle in TensorFlow's order against a model of it. penstock-golden has what TensorFlow itself gave.
#include <penstock/ops.h>

#include <penstock/penstock.h>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::counting;
using testing::Positions;
using testing::StreamRun;

constexpr ShuffleOptions of_seed_42{.seed = 42, .order = ShuffleOrder::tensorflow};

// TensorFlow's order of one opening, as shuffle_dataset_op.cc has it: draws are Philox's words, keyed by the pair.
Positions model(std::int64_t elements, std::size_t buffer_size, std::uint32_t seed, std::uint32_t seed2) {
  Positions held, order;
  for (std::uint32_t drawn = 0; static_cast<std::int64_t>(order.size()) < elements; ++drawn) {
    while (held.size() < buffer_size && static_cast<std::int64_t>(held.size() + order.size()) < elements)
      held.push_back(static_cast<std::int64_t>(held.size() + order.size()));
    const std::size_t at = philox4x32({drawn / 4, 0, seed2, 0}, {seed, 0})[drawn % 4] % held.size();
    order.push_back(held[at]);
    held[at] = held.front();
    held.erase(held.begin());
  }
  return order;
}

// Of .shuffle(buffer_size, seed=42) without a global seed: the pairs are words of Philox, keyed by (87654321, 42).
Positions opening(std::uint32_t number, std::int64_t elements, std::size_t buffer_size) {
  const auto word = [](std::uint32_t i) { return philox4x32({i / 4, 0, 42, 0}, {87654321, 0})[i % 4]; };
  return model(elements, buffer_size, word(2 * number), word(2 * number + 1));
}

// Those openings of 8 elements, 3 in the buffer, one after the other.
Positions openings(std::initializer_list<std::uint32_t> numbers) {
  Positions all;
  for (const std::uint32_t number : numbers)
    for (const std::int64_t value : opening(number, 8, 3)) all.push_back(value);
  return all;
}

std::int64_t same(std::int64_t x) { return x; }

Dataset<std::int64_t> eight() { return range(8).shuffle(3, of_seed_42); }

// One plain loop.
template <class T> Positions loop(const Dataset<T>& dataset) {
  Positions all;
  for (auto&& value : dataset) all.push_back(value);
  return all;
}
// The same of batches.
template <class T> Positions flat_loop(const Dataset<T>& dataset) { return loop(dataset.unbatch()); }

void leave_behind(std::int64_t elements, const Dataset<std::int64_t>& dataset) {
  auto it = dataset.begin();
  for (std::int64_t i = 1; i < elements; ++i) ++it;
}

TEST(TensorFlowShuffle, HasTheModelsOrderOverPositionsAndOverAStream) {
  for (std::int64_t elements : {0, 1, 2, 7, 50})
    for (std::int64_t buffer_size : {1, 2, 7, 50, 60}) {
      const OpRef op = ops::tensorflow_shuffle(buffer_size, of_seed_42);
      for (std::uint32_t epoch : {0U, 1U, 70'000U}) {
        SCOPED_TRACE(::testing::Message() << elements << " elements, buffer " << buffer_size << ", epoch " << epoch);
        const Positions expected = opening(epoch, elements, static_cast<std::size_t>(buffer_size));
        testing::expect_pass(*testing::over_positions({op}, elements), epoch, 0, expected);
        Positions streamed;
        for (const Slot& slot : StreamRun(op).pass(counting(elements), epoch, 0).slots)
          streamed.push_back(slot.value.get<std::int64_t>());
        EXPECT_EQ(streamed, expected);
      }
    }
}

TEST(TensorFlowShuffle, WithoutReshufflingHasTheSeedsThemselves) {
  const auto dataset = range(20).shuffle(
      5, {.seed = 17, .reshuffle_each_epoch = false, .order = ShuffleOrder::tensorflow, .global_seed = 6});
  EXPECT_EQ(loop(dataset), model(20, 5, 6, 17));
  EXPECT_EQ(loop(dataset), model(20, 5, 6, 17));
}

TEST(TensorFlowShuffle, TakesSeedsAsPythonDoes) {
  const auto order = [](std::uint64_t seed, std::optional<std::uint64_t> global_seed) {
    return loop(range(20).shuffle(
        5,
        {.seed = seed, .reshuffle_each_epoch = false, .order = ShuffleOrder::tensorflow, .global_seed = global_seed}));
  };
  EXPECT_EQ(order(42, std::nullopt), model(20, 5, 87654321, 42));
  EXPECT_EQ(order(8'589'934'599, 2'147'483'653), model(20, 5, 6, 11)) << "modulo 2^31 - 1";
  EXPECT_EQ(order(static_cast<std::uint64_t>(-3), 1), model(20, 5, 1, 2'147'483'644));
  EXPECT_EQ(order(0, 0), model(20, 5, 0, 2'147'483'647)) << "two zeros would be any seed";
}

TEST(TensorFlowShuffle, DirectlyBeforeARepeatIsOpenedOnceForEachPass) {
  const auto dataset = eight().repeat(3);
  EXPECT_EQ(loop(dataset), openings({0, 1, 2}));
  EXPECT_EQ(loop(dataset), openings({3, 4, 5}));
}

TEST(TensorFlowShuffle, WithAnOpBetweenIsOpenedOnceMore) {
  const auto dataset = eight().batch(4).repeat(2);
  EXPECT_EQ(flat_loop(dataset), openings({0, 1}));
  EXPECT_EQ(flat_loop(dataset), openings({3, 4}));
  EXPECT_EQ(loop(eight().map(same).repeat(2).repeat(2)), openings({0, 1, 3, 4}));
}

TEST(TensorFlowShuffle, LooksPastWhatDoesNothing) {
  const auto dataset = eight().take(-1).skip(0).repeat(1).shard(1, 0).repeat(2).skip(0);
  EXPECT_EQ(loop(dataset), openings({0, 1}));
  EXPECT_EQ(loop(dataset), openings({2, 3}));
}

TEST(TensorFlowShuffle, BeforeNestedRepeatsIsOpenedOnceMoreByTheOuterOne) {
  const auto dataset = eight().repeat(2).repeat(2);
  EXPECT_EQ(loop(dataset), openings({0, 1, 2, 3}));
  EXPECT_EQ(loop(dataset), openings({5, 6, 7, 8}));
}

TEST(TensorFlowShuffle, BehindARepeatHasAllItsPassesInOne) {
  const auto dataset = range(4).repeat(2).map(same).shuffle(3, of_seed_42).repeat(2);
  Positions expected = openings({0, 1});
  for (std::int64_t& value : expected) value %= 4;
  EXPECT_EQ(loop(dataset), expected);
  EXPECT_EQ(loop(dataset).size(), 16U);
}

TEST(TensorFlowShuffle, OfALoopThatIsLeftHasOpenedWhatItHadBegun) {
  const auto dataset = eight().repeat(3);
  leave_behind(1, dataset);
  leave_behind(9, dataset);
  EXPECT_EQ(loop(dataset), openings({3, 4, 5}));
  Positions twenty = openings({0, 1, 2});
  twenty.resize(20);
  EXPECT_EQ(loop(eight().repeat().take(20)), twenty);
}

TEST(TensorFlowShuffle, OfAnEndlessRepeatGoesOnWhereALoopHasCome) {
  const auto dataset = eight().repeat().take(17);
  Positions second = openings({3, 4, 5});
  second.resize(17);
  loop(dataset);
  EXPECT_EQ(loop(dataset), second);
}

// What is left out behind the repeats is no reason to believe that they were not over.
TEST(TensorFlowShuffle, OfALoopReadToItsEndHasOpenedAll) {
  const auto odd = [](std::int64_t x) { return x % 2 == 1; };
  const auto few = eight().repeat(3).unique();
  EXPECT_EQ(loop(few), opening(0, 8, 3));
  EXPECT_EQ(loop(few), opening(3, 8, 3));
  const auto joined = eight().repeat(2).concatenate(range(8)).take(-1);
  Positions first = openings({0, 1}), second = openings({2, 3});
  for (Positions* each : {&first, &second})
    for (std::int64_t value = 0; value < 8; ++value) each->push_back(value);
  EXPECT_EQ(loop(joined), first);
  EXPECT_EQ(loop(joined), second);
  const auto mixed = eight().map(same).repeat(2).shuffle(100, of_seed_42).filter(odd);
  loop(mixed);
  Positions third = opening(1, 16, 100);
  const Positions of = openings({3, 4});
  for (std::int64_t& value : third) value = of[static_cast<std::size_t>(value)];
  std::erase_if(third, [&](std::int64_t value) { return !odd(value); });
  EXPECT_EQ(loop(mixed), third);
}

TEST(TensorFlowShuffle, OfALoopThatATakeEndsHasOpenedWhatWasTaken) {
  const auto dataset = eight().map(same).repeat(3).take(24);
  EXPECT_EQ(loop(dataset), openings({0, 1, 2}));
  EXPECT_EQ(loop(dataset), openings({3, 4, 5})) << "nobody has asked whether there is more";
  const auto whole = eight().map(same).repeat(3).take(25);
  EXPECT_EQ(loop(whole), openings({0, 1, 2}));
  EXPECT_EQ(loop(whole), openings({4, 5, 6}));
}

TEST(TensorFlowShuffle, BehindARepeatOfOnePassIsAsWithoutIt) {
  const auto dataset = range(4).repeat(1).repeat(2).map(same).shuffle(3, of_seed_42).map(same).repeat(2);
  for (std::uint32_t begins : {0U, 3U}) {
    Positions expected = openings({begins, begins + 1});
    for (std::int64_t& value : expected) value %= 4;
    EXPECT_EQ(loop(dataset), expected);
  }
}

TEST(TensorFlowShuffle, BehindARepeatThatATakeEndsCountsItsOwnPasses) {
  const auto dataset = range(4).repeat().take(8).shuffle(3, of_seed_42).repeat(3);
  Positions expected = openings({0, 1, 2});
  for (std::int64_t& value : expected) value %= 4;
  EXPECT_EQ(loop(dataset), expected);
}

TEST(TensorFlowShuffle, InsideAnotherRunCountsItsOwnPasses) {
  const auto dataset = eight().repeat(2);
  std::vector<Positions> got;
  const auto loops = [&](std::int64_t x) {
    got.push_back(loop(dataset));
    return x;
  };
  const auto outer = range(1).repeat(3).map(loops, 1);  // one after the other
  loop(outer);
  EXPECT_EQ(got, (std::vector<Positions>{openings({0, 1}), openings({2, 3}), openings({4, 5})}));
  const auto inner = range(1).repeat(2).flat_map([](std::int64_t) { return eight().repeat(2); });
  EXPECT_EQ(loop(inner), openings({0, 1, 0, 1}));
  EXPECT_EQ(loop(inner), openings({2, 3, 2, 3})) << "of the next epoch";
}

TEST(TensorFlowShuffle, IsRefusedWhereItsOpeningsCannotBeCounted) {
  EXPECT_ERROR(eight().repeat(2).take(5).repeat(3), ErrorCode::invalid_argument, "where take ends a pass");
  EXPECT_ERROR(eight().repeat().take(16).repeat(3), ErrorCode::invalid_argument, "ends a pass");
  EXPECT_ERROR(zip(eight().repeat(2), range(5)).repeat(2), ErrorCode::invalid_argument, "zip");
  EXPECT_EQ(loop(eight().take(5).repeat(2).repeat(2)).size(), 20U);
  EXPECT_EQ(loop(eight().repeat(2).take(17).repeat(2)).size(), 32U) << "it takes all";
  EXPECT_ERROR(ops::tensorflow_shuffle(3, {.global_seed = 2}), ErrorCode::invalid_argument, "without seed");
}

TEST(TensorFlowShuffle, CountsLoopsOverAllThatIsMadeOfIt) {
  const auto dataset = eight();
  const auto other = dataset.map(same);
  EXPECT_EQ(loop(dataset), openings({0}));
  EXPECT_EQ(loop(other), openings({1}));
  EXPECT_EQ(loop(dataset), openings({2}));
  EXPECT_EQ(loop(eight()), openings({0})) << "another op";
}

TEST(TensorFlowShuffle, OfARunCountsByTheNumberOfTheEpoch) {
  const auto dataset = eight().batch(4).repeat(2);
  leave_behind(1, dataset.unbatch());
  for (bool serial : {false, true}) {
    auto run = dataset.start({.epochs = 3, .serial = serial});
    for (std::uint32_t epoch : {2U, 0U, 1U}) {
      Positions all;
      for (auto&& rows : run.epoch(epoch)) all.insert(all.end(), rows.begin(), rows.end());
      EXPECT_EQ(all, openings({3 * epoch, 3 * epoch + 1})) << "epoch " << epoch;
    }
  }
}

TEST(TensorFlowShuffle, IsResumedInAnyPass) {
  const auto streamed = range(8).map(same).shuffle(3, of_seed_42).repeat(2).repeat(2);
  for (const auto& dataset : {eight().repeat(2).repeat(2), streamed})
    for (std::int64_t place : {1, 8, 13, 23, 31}) {
      auto run = dataset.start();
      for (std::int64_t i = 0; i < place; ++i) run.next();
      auto resumed = dataset.start({.resume_from = std::make_shared<Checkpoint>(run.checkpoint())});
      Positions rest;
      while (const auto value = resumed.next()) rest.push_back(*value);
      EXPECT_EQ(rest, testing::behind(openings({0, 1, 2, 3}), static_cast<std::size_t>(place))) << place;
    }
}

TEST(TensorFlowShuffle, IsFoundByAt) { EXPECT_EQ(eight().at(5), opening(0, 8, 3)[5]); }

TEST(TensorFlowShuffle, SaysItsOrderAndSeeds) {
  const auto text = [](const ShuffleOptions& options) { return ops::tensorflow_shuffle(3, options)->parameters(); };
  EXPECT_EQ(text(of_seed_42), "buffer_size=3, order=tensorflow, seed=42");
  EXPECT_EQ(text({.seed = 1, .reshuffle_each_epoch = false, .order = ShuffleOrder::tensorflow, .global_seed = 2}),
            "buffer_size=3, order=tensorflow, seed=1, global_seed=2, reshuffle_each_epoch=false");
}

TEST(Shuffle, TakesAGlobalSeedInTensorFlowsOrderOnly) {
  EXPECT_ERROR(ops::shuffle(3, {.seed = 1, .global_seed = 2}), ErrorCode::invalid_argument, "global_seed");
}

}  // namespace
}  // namespace penstock
