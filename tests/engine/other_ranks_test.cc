// A checkpoint of one rank is resumed by another one, of as many ranks or of another number.
#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock {
namespace {

using namespace testing;

constexpr std::int64_t kGlobalBatch = 12;
using Batches = std::vector<std::vector<std::int64_t>>;
using MakeBatches = std::function<Dataset<std::vector<std::int64_t>>(const World& world, std::int64_t batch)>;

Dataset<std::vector<std::int64_t>> shuffled_batches(const World& world, std::int64_t batch) {
  return range(100)
      .shuffle(100, {.seed = 7})
      .shard(world)
      .map([](std::int64_t x) { return x; })
      .batch(batch, {.drop_remainder = true})
      .prefetch();
}

// All ranks of a job, which make their steps together.
class Job {
 public:
  explicit Job(int ranks, std::shared_ptr<const Checkpoint> from = nullptr,
               const MakeBatches& make = shuffled_batches) {
    for (int rank = 0; rank < ranks; ++rank) {
      const World world{.size = ranks, .rank = rank};
      runs_.push_back(make(world, kGlobalBatch / ranks).start({.epochs = 3, .resume_from = from}));
    }
  }

  // The next global batch, in the global order: element k is of rank k modulo their number. Empty: the epoch has ended.
  std::vector<std::int64_t> step(std::uint32_t epoch) {
    Batches parts;
    for (auto& run : runs_) {
      if (epoch_ != epoch) run.epoch(epoch);
      auto part = run.next();
      if (part) parts.push_back(std::move(*part));
    }
    epoch_ = epoch;
    std::vector<std::int64_t> all;
    if (parts.size() < runs_.size()) return all;
    for (std::size_t i = 0; i < kGlobalBatch; ++i) all.push_back(parts[i % parts.size()][i / parts.size()]);
    return all;
  }

  // Through bytes, as it goes to another process.
  std::shared_ptr<const Checkpoint> checkpoint(std::size_t rank) {
    return std::make_shared<const Checkpoint>(Checkpoint::from_bytes(runs_[rank].checkpoint().to_bytes()));
  }

 private:
  std::vector<Run<std::vector<std::int64_t>>> runs_;
  std::optional<std::uint32_t> epoch_;  // that has been begun
};

Batches steps_of(Job& job, std::uint32_t epoch, std::size_t most = 100) {
  Batches steps;
  while (steps.size() < most) {
    steps.push_back(job.step(epoch));
    if (!steps.back().empty()) continue;
    steps.pop_back();
    break;
  }
  return steps;
}

Batches behind(const Batches& all, std::size_t steps) {
  return {all.begin() + static_cast<std::ptrdiff_t>(steps), all.end()};
}

TEST(OtherRanks, GoOnWithTheSameGlobalBatches) {
  Job alone(1);
  const Batches first = steps_of(alone, 0), second = steps_of(alone, 1);
  ASSERT_EQ(first.size(), 8u);
  for (const int before : {1, 2, 3, 4, 6}) {
    for (const int after : {1, 2, 3, 4, 6, 12}) {
      const std::size_t steps = static_cast<std::size_t>(before + after) % 7;
      Job killed(before);
      EXPECT_EQ(steps_of(killed, 0, steps), Batches(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(steps)));
      Job resumed(after, killed.checkpoint(static_cast<std::size_t>(before) / 2));
      EXPECT_EQ(steps_of(resumed, 0), behind(first, steps)) << before << " ranks, then " << after;
      EXPECT_EQ(steps_of(resumed, 1), second) << before << " ranks, then " << after;
    }
  }
}

TEST(OtherRanks, GoOnFromARunThatWasResumedItself) {
  Job alone(1);
  const Batches first = steps_of(alone, 0);
  Job four(4);
  steps_of(four, 0, 2);
  Job two(2, four.checkpoint(3));
  steps_of(two, 0, 3);
  Job six(6, two.checkpoint(0));
  EXPECT_EQ(steps_of(six, 0), behind(first, 5));
}

TEST(OtherRanks, OfTheSameNumberGoOnFromOneRanksCheckpoint) {
  Job job(4);
  steps_of(job, 0, 3);
  const auto of_one = job.checkpoint(2);
  Job resumed(4, of_one);
  EXPECT_EQ(steps_of(resumed, 0), steps_of(job, 0));
}

TEST(OtherRanks, GoOnWithTheNextEpochBehindAnEnd) {
  Job job(3);
  steps_of(job, 0);
  Job resumed(2, job.checkpoint(1));
  EXPECT_EQ(steps_of(resumed, 1), steps_of(job, 1));
}

TEST(OtherRanks, GoOnInALaterEpoch) {
  Job job(3);
  steps_of(job, 0);
  steps_of(job, 1, 2);
  const auto saved = job.checkpoint(0);
  Job resumed(4, saved);
  EXPECT_EQ(steps_of(resumed, 1), steps_of(job, 1));
}

TEST(OtherRanks, TakeWhatIsLeftWithoutBatches) {
  const auto part = [](int ranks, int rank) { return range(20).shard(World{.size = ranks, .rank = rank}); };
  auto run = part(4, 1).start();
  for (int i = 0; i < 3; ++i) run.next();
  const auto saved = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_EQ(read(part(2, 0), {.resume_from = saved}), Texts({"12", "14", "16", "18"}));
  EXPECT_EQ(read(part(2, 1), {.resume_from = saved}), Texts({"13", "15", "17", "19"}));
}

// ------------------------------------------------------------------------------------------------ refusals

template <class T> std::shared_ptr<const Checkpoint> after_one(const Dataset<T>& dataset) {
  auto run = dataset.start({.on_error = skip_all()});
  run.next();
  return std::make_shared<const Checkpoint>(run.checkpoint());
}

// Rank 1 of 3 refuses a checkpoint of rank 0 of 2.
template <class Make> void expect_refused(const Make& make, const std::string& why) {
  const auto saved = after_one(make(World{.size = 2, .rank = 0}));
  const auto dataset = make(World{.size = 3, .rank = 1});
  EXPECT_ERROR(dataset.start({.resume_from = saved}), ErrorCode::failed_precondition, why);
}

TEST(OtherRanks, AreRefusedBehindAFilterThatIsNamed) {
  const auto even = [](std::int64_t x) { return x % 2 == 0; };
  expect_refused([&](const World& world) { return range(24).shard(world).filter(even).batch(2); },
                 "taken by rank 0 of 2, and rank 1 of 3 cannot go on from it: nobody can tell of which positions the "
                 "elements of filter (op 2)");
}

TEST(OtherRanks, AreRefusedWhereSomethingElseStandsBehindTheShard) {
  expect_refused([](const World& world) { return range(24).shard(world).take(3); },
                 "take (op 2) stands behind shard(world)");
  expect_refused([](const World& world) { return range(24).shard(world).shuffle(9, {.seed = 1}); },
                 "shuffle (op 2) stands behind shard(world)");
}

TEST(OtherRanks, AreRefusedOverAStream) {
  expect_refused([](const World& world) { return range(24).map(plus_one).shard(world); }, "the elements of map (op 1)");
}

TEST(OtherRanks, AreRefusedBehindARepeat) {
  expect_refused([](const World& world) { return range(24).repeat(2).shard(world).batch(2); },
                 "the elements of repeat (op 1)");
  expect_refused([](const World& world) { return range(24).shard(world).repeat(2); }, "the elements of repeat (op 2)");
}

TEST(OtherRanks, AreRefusedInTheMiddleOfAStepAndTellWhichBatchesFit) {
  const auto of = [](int ranks, int rank, std::int64_t batch) {
    return range(240).shard(World{.size = ranks, .rank = rank}).batch(batch);
  };
  const auto saved = after_one(of(4, 0, 5));
  EXPECT_ERROR(of(3, 2, 5).start({.resume_from = saved}), ErrorCode::failed_precondition,
               "20 positions have been taken, which is no whole number of steps of 3 ranks that take 5 each. "
               "Make batches such that all ranks take 20 together");
  auto fits = of(2, 1, 10).start({.resume_from = saved});
  EXPECT_EQ(fits.next()->front(), 21);
}

TEST(OtherRanks, AreRefusedWhereAllOfAnEpochHasBeenTaken) {
  const auto of = [](int ranks) { return range(10).shard(World{.size = ranks, .rank = 0}); };
  auto run = of(4).start();
  for (int i = 0; i < 3; ++i) run.next();
  const auto saved = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_ERROR(of(2).start({.resume_from = saved}), ErrorCode::failed_precondition,
               "have taken all of the epoch's 10 positions, or the rest of them. Begin the next epoch");
}

TEST(OtherRanks, AreRefusedBehindTheRemainder) {
  const auto of = [](int ranks, std::int64_t batch) {
    return range(10).shard(World{.size = ranks, .rank = 0}).batch(batch);
  };
  auto run = of(2, 3).start();
  run.next();
  run.next();
  const auto saved = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_ERROR(of(3, 2).start({.resume_from = saved}), ErrorCode::failed_precondition, "Begin the next epoch");
}

// Of another rank's failures nothing can be seen; of its own they shift it.
TEST(OtherRanks, AreRefusedBehindASkippedError) {
  const auto of = [](int ranks, int rank) {
    return range(24).shard(World{.size = ranks, .rank = rank}).map(failing_at(2));
  };
  auto run = of(2, 0).start({.on_error = skip_all()});
  run.next();
  EXPECT_EQ(run.next(), 4);
  const auto saved = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_EQ(of(2, 1).start({.resume_from = saved}).next(), 7);  // without batches an error is a step, too
}

TEST(OtherRanks, AreRefusedWhereElementsHaveFailed) {
  expect_refused([](const World& world) { return range(24).shard(world).map(failing_at(2)).batch(2); },
                 "Elements have failed there, or were dropped");
}

TEST(OtherRanks, AreRefusedWhereAllThatWasDeliveredFailed) {
  const auto of = [](int ranks) { return range(24).shard(World{.size = ranks, .rank = 0}).map(failing_at(0)); };
  auto run = of(2).start();
  EXPECT_THROW(run.next(), Error);
  const auto saved = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_ERROR(of(3).start({.resume_from = saved}), ErrorCode::failed_precondition,
               "all that it has delivered are errors");
}

TEST(OtherRanks, OfAnotherPipelineAreToldTheFirstDifference) {
  const auto with = [](int ranks, std::uint64_t seed) {
    return range(24).shuffle(24, {.seed = seed}).shard(World{.size = ranks, .rank = 0}).batch(2);
  };
  const auto saved = after_one(with(2, 1));
  EXPECT_ERROR(with(3, 2).start({.resume_from = saved}), ErrorCode::failed_precondition, "seed=1");
  EXPECT_ERROR(with(3, 1).take(1).start({.resume_from = saved}), ErrorCode::failed_precondition, "another pipeline");
}

// A window shuffle cannot tell a position's place, so a place that is far away is not looked for.
TEST(OtherRanks, AreRefusedAtOnceWhereTheirPlaceCannotBe) {
  const auto of = [](int ranks) {
    return range(std::int64_t{1} << 61).shuffle(10, {.seed = 1}).shard(World{.size = ranks, .rank = 0});
  };
  auto saved = std::make_shared<Checkpoint>(*after_one(of(2)));
  saved->delivered = std::int64_t{1} << 59;
  EXPECT_ERROR(of(3).start({.resume_from = saved}), ErrorCode::failed_precondition, "it stands behind element");
}

// What is in a file may be anything.
TEST(OtherRanks, AreRefusedWhateverNumbersACheckpointSays) {
  const auto of = [](int ranks) { return range(24).shard(World{.size = ranks, .rank = 0}).batch(2); };
  const auto with = [&](const std::string& text, std::int64_t delivered) {
    auto saved = std::make_shared<Checkpoint>(*after_one(of(2)));
    saved->pipeline = text;
    saved->delivered = delivered;
    saved->errors_since = delivered - 1;
    return saved;
  };
  constexpr std::int64_t kMany = std::int64_t{1} << 62;
  const std::string text = after_one(of(2))->pipeline;
  const std::size_t shards = text.find("num_shards=2"), batch = text.find("batch_size=2");
  ASSERT_NE(shards, text.npos);
  ASSERT_NE(batch, text.npos);
  for (const char* number : {"4611686018427387904", "9223372036854775807", "99999999999999999999", "2147483647", "0"}) {
    for (const std::size_t at : {shards + 11, batch + 11}) {
      for (const std::int64_t delivered : {std::int64_t{1}, kMany}) {
        const std::string changed = std::string(text).replace(at, 1, number);
        EXPECT_ERROR(of(3).start({.resume_from = with(changed, delivered)}), ErrorCode::failed_precondition,
                     "this checkpoint was taken");
      }
    }
  }
}

// Nobody has said that these are ranks.
TEST(OtherRanks, AreNotThoseOfAShardByNumber) {
  const auto saved = after_one(range(24).shard(2, 0));
  EXPECT_ERROR(range(24).shard(3, 0).start({.resume_from = saved}), ErrorCode::failed_precondition, "another pipeline");
}

TEST(OtherRanks, AreRefusedWhereTheInputIsAnother) {
  Job job(2);
  steps_of(job, 0, 1);
  const auto saved_with_last = [&](std::int64_t ordinal) {
    Checkpoint wrong = *job.checkpoint(0);
    wrong.last.ordinal = ordinal;
    return std::make_shared<const Checkpoint>(wrong);
  };
  EXPECT_ERROR(Job(3, saved_with_last(job.checkpoint(1)->last.ordinal)), ErrorCode::failed_precondition,
               "or its input is another");
  EXPECT_ERROR(Job(3, saved_with_last(100)), ErrorCode::failed_precondition, "it stands behind element 100");
}

}  // namespace
}  // namespace penstock
