// Save points: pipelines that cannot be resumed by position go on where they stood, and make little again.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>

#include "tests/engine/save_points.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using namespace testing;

TEST(SavePoint, OfGenerators) {
  expect_resumes_anywhere(counted(7).map(plus_one).shuffle(3, {.seed = 4}));
  expect_resumes_anywhere(counted(5).repeat(3).skip(2).take(9).batch(2));
}

TEST(SavePoint, OfShuffles) {
  expect_resumes_anywhere(range(12).map(plus_one).shuffle(4, {.seed = 4}));
  expect_resumes_anywhere(range(12).map(failing_on(3)).shuffle(4, {.seed = 4}).map(failing_on(7)).batch(3));
  expect_resumes_anywhere(range(6).map(few).unbatch().shuffle(3, {.seed = 2}).repeat(2).shuffle(2, {.seed = 9}));
  expect_resumes_anywhere(range(12).map(plus_one).shuffle(4, {.seed = 4, .order = ShuffleOrder::tensorflow}));
}

TEST(SavePoint, OfOpsThatCount) {
  expect_resumes_anywhere(range(12).map(failing_on(2)).skip(3).take(6));
  expect_resumes_anywhere(
      range(12).map(few).unbatch().shard(3, 1).enumerate().map([](std::tuple<std::int64_t, std::int64_t> numbered) {
        return 100 * std::get<0>(numbered) + std::get<1>(numbered);
      }));
  expect_resumes_anywhere(range(9).map(few).unbatch().take_while([](std::int64_t value) { return value < 8; }));
  expect_resumes_anywhere(range(9).map(failing_on(3)).scan(std::int64_t{0}, [](std::int64_t sum, std::int64_t value) {
    return Scanned{sum + value, sum + value};
  }));
  expect_resumes_anywhere(range(9).map(few).unbatch().assert_cardinality(9));
  expect_resumes_anywhere(range(9).map(few).unbatch().assert_cardinality(5));
}

TEST(SavePoint, OfBatchesAndWindows) {
  expect_resumes_anywhere(range(11).map(few).unbatch().batch(2).unbatch().batch(3));
  expect_resumes_anywhere(range(11).map(failing_on(5)).shuffle(2, {.seed = 1}).ignore_errors().batch(3));
  expect_resumes_anywhere(
      range(11).map(plus_one).window(4, {.shift = 2}).map([](const std::vector<std::int64_t>& window) {
        return window.front() * 100 + window.back();
      }));
}

TEST(SavePoint, OfGroups) {
  const auto thirds = [](std::int64_t value) { return value % 3; };
  const auto sum = [](const std::vector<std::int64_t>& group) {
    return std::accumulate(group.begin(), group.end(), 1L);
  };
  expect_resumes_anywhere(range(14).map(failing_on(4)).group_by_window(thirds, 3).map(sum));
  expect_resumes_anywhere(range(9).map(few).unbatch().group_by_window(thirds, 2).map(sum).repeat(2).batch(3));
}

TEST(SavePoint, OfBuckets) {
  using Word = std::vector<std::int64_t>;
  const auto words = range(14).map(failing_on(4)).map([](std::int64_t value) {
    return Word(static_cast<std::size_t>(value * 5 % 7), value);
  });
  for (const bool drop : {false, true}) {
    const BucketOptions<Word> options{
        .bucket_boundaries = {2, 4}, .bucket_batch_sizes = {3, 2, 3}, .drop_remainder = drop};
    expect_resumes_anywhere(words.bucket_by_sequence_length([](const Word& word) { return word.size(); }, options)
                                .map([](const Tensor& batch) {
                                  const auto values = batch.values<std::int64_t>();
                                  return Word(values.begin(), values.end());
                                }));
  }
}

TEST(SavePoint, OfRebatches) {
  expect_resumes_anywhere(range(17).map(plus_one).batch(4).rebatch(3));
  expect_resumes_anywhere(range(17).map(few).rebatch({1, 4, 2}).repeat(2));
  const auto without_ten = [](std::vector<std::int64_t> batch) {
    if (std::ranges::count(batch, 10) > 0) throw std::runtime_error("ten");
    return batch;
  };
  expect_resumes_anywhere(range(17).map(failing_on(5)).batch(3).map(without_ten).rebatch(5, {.drop_remainder = true}));
}

// A function that a pass has for itself counts what has come: its pass begins anew.
TEST(SavePoint, OfGroupsByAFunctionWithAState) {
  expect_resumes_anywhere(range(9).map(plus_one).group_by_window([i = 0](std::int64_t) mutable { return i++ % 2; }, 2));
}

// What is before it is read again, and remembered again; nothing behind it is made again.
TEST(SavePoint, OfCaches) {
  const auto remembered = [] { return range(9).map(failing_on(3)).shuffle(4, {.seed = 1}).cache(); };
  expect_made_again_resumes_anywhere([&] { return remembered().shuffle(3, {.seed = 2}).repeat(3).batch(2); });
  expect_made_again_resumes_anywhere(
      [&] { return range(3).map(few).unbatch().cache().repeat(2).take(5).skip(1).cache().map(plus_one).repeat(2); });
  expect_made_again_resumes_anywhere([&] {
    return zip(remembered().repeat(2), counted(20)).map([](std::int64_t a, std::int64_t b) { return 100 * a + b; });
  });
  expect_resumes_anywhere(remembered().shuffle(3, {.seed = 2}).repeat(2));
}

TEST(SavePoint, OfCachesInFiles) {
  test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "cache";
  const auto data =
      range(9).map(plus_one).shuffle(4, {.seed = 1}).cache(path.string()).shuffle(3, {.seed = 2}).repeat(2).batch(2);
  expect_made_again_resumes_anywhere([&] {
    std::filesystem::remove(path);
    return data;
  });
  expect_resumes_anywhere(data);
}

// A pass that gives nothing ends one, though it gives a save point.
TEST(SavePoint, OfEndlessRepeats) {
  const auto never = [](std::int64_t) { return false; };
  EXPECT_EQ(read(range(5).map(plus_one).shuffle(2, {.seed = 1}).filter(never).repeat(), {}), Texts());
  expect_resumes_anywhere(range(5).map(few).unbatch().repeat().take(14));
}

TEST(SavePoint, OfTrees) {
  const auto left = range(6).map(plus_one).shuffle(2, {.seed = 5});
  const auto right = counted(4).map(failing_on(2));
  expect_resumes_anywhere(left.concatenate(right).shuffle(3, {.seed = 1}));
  expect_resumes_anywhere(sample_from(std::vector{left, right}, {.weights = {0.7, 0.3}, .seed = 3}));
  expect_resumes_anywhere(
      zip(left, right)
          .map([](std::tuple<std::int64_t, std::int64_t> both) { return 100 * std::get<0>(both) + std::get<1>(both); })
          .repeat(2));
  expect_resumes_anywhere(
      choose_from(std::vector{left.repeat(), right}, counted(9).map([](std::int64_t i) { return i % 2; })));
}

TEST(SavePoint, OfNests) {
  const auto files = [](std::int64_t file) {
    return range(file % 4).map([file](std::int64_t line) { return 100 * file + line; });
  };
  expect_resumes_anywhere(range(9).interleave(files, {.cycle_length = 3}));
  expect_resumes_anywhere(
      counted(9).map(failing_on(4)).shuffle(2, {.seed = 4}).interleave(files, {.cycle_length = 2, .block_length = 2}));
  expect_resumes_anywhere(range(5).interleave(files, {.cycle_length = 2}).shuffle(3, {.seed = 4}).repeat(2).batch(2));
  expect_resumes_anywhere(range(5).repeat(2).interleave(files, {.cycle_length = 3}).take(9));
  expect_resumes_anywhere(range(6).map(plus_one).flat_map(files));
}

// ------------------------------------------------------------------------------------------------ what it costs

TEST(SavePoint, OfAShuffleMakesWhatItHeldAgainAndLittleElse) {
  std::atomic<int> calls{0};
  const auto counting = [&calls](std::int64_t value) {
    ++calls;
    return value;
  };
  const auto data = range(10'000).map(counting, 1).shuffle(20, {.seed = 4}).batch(5);
  const auto from = saved_behind(data, 1500);  // 7,500 elements
  calls = 0;
  auto again = dense_run(data, {.serial = true, .resume_from = from});
  again.next();
  EXPECT_LT(calls, 1500);  // the oldest of 20 is some 20 (ln 20 + 0.6) inputs old, and the source reads 512 in a call
}

// Of each op that holds elements: how often what is before it is called for the rest of an epoch of 10,000.
TEST(SavePoint, OfGroupsMakesWhatTheyHeldAgainAndLittleElse) {
  std::atomic<int> calls{0};
  const auto source = range(10'000).map(
      [&calls](std::int64_t value) {
        ++calls;
        return value;
      },
      1);
  const auto thirds = [](std::int64_t value) { return value % 3; };
  const auto lengths = [](const std::vector<std::int64_t>& row) { return row.size(); };
  const auto expect_few = [&](const auto& data, int taken) {
    const auto from = saved_behind(data, taken);
    calls = 0;
    auto again = dense_run(data, {.serial = true, .resume_from = from});
    while (again.next()) {
    }
    EXPECT_LT(calls, 5000);  // a quarter of them is left, and save points are some packets apart
  };
  expect_few(source.group_by_window(thirds, 4), 1875);
  expect_few(source.batch(4).rebatch(3), 2500);
  expect_few(source.map(few).bucket_by_sequence_length(lengths,
                                                       {.bucket_boundaries = {1, 2}, .bucket_batch_sizes = {2, 4, 5}}),
             2375);
}

TEST(SavePoint, OfANestOpensWhatWasOpen) {
  std::atomic<int> opened{0};
  const auto file = [&opened](std::int64_t number) {
    ++opened;
    return range(number, number + 50);
  };
  const auto data = range(1000).interleave(file, {.cycle_length = 8}).batch(5);
  const auto from = saved_behind(data, 3000);  // some 300 of them
  opened = 0;
  auto again = dense_run(data, {.serial = true, .resume_from = from});
  again.next();
  EXPECT_LE(opened, 40);  // a save point may be some packets old
  EXPECT_LT(from->save_point.size(), 100u);
}

TEST(SavePoint, OfAWideNestIsBelowAKibibyte) {
  const auto file = [](std::int64_t number) { return range(number, number + 1000); };
  const auto data = range(100'000).interleave(file, {.cycle_length = 64}).batch(50);
  EXPECT_LT(saved_behind(data, 3000)->to_bytes().size(), 1024u);
}

TEST(SavePoint, OfAStreamShuffleTakesTwoBytesForEachElementHeld) {
  const auto data = range(100'000).map(plus_one).shuffle(1000, {.seed = 2}).batch(50);
  const auto from = saved_behind(data, 1000);
  EXPECT_GT(from->save_point.size(), 1000u);
  EXPECT_LT(from->save_point.size(), 1800u);
}

// ------------------------------------------------------------------------------------------------ what does not fit

// Writes a state of one number, and takes two.
class ReadsMore final : public StreamOp {
 public:
  struct State final : StreamState {
    void element(Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
    bool save(StateWriter& out) const override {
      out.number(1);
      return true;
    }
    void restore(StateReader& in) override { in.number(), in.number(); }
  };
  std::string name() const override { return "reads_more"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(); }
};

TEST(SavePoint, OfAnOpThatReadsMoreThanItHasWrittenEndsTheRun) {
  const auto data = range(100).map(plus_one).then<std::int64_t>(std::make_shared<ReadsMore>());
  auto again = dense_run(data, {.resume_from = saved_behind(data, 5)});
  EXPECT_ERROR(again.next(), ErrorCode::data_loss, "is not what the op writes");
}

// What an op holds is given back to it under the numbers that it has from now on, as often as a run is resumed.
TEST(SavePoint, OfAnOpOfAUsersGivesBackWhatItHeld) {
  struct Keeps final : StreamOp {
    struct State final : StreamState {
      std::vector<StateReader::Held> held;
      void begin_pass(Emitter&) override { held.clear(); }
      void element(Slot&& slot, Emitter& out) override {
        held.push_back({std::move(slot), out.input_number()});
        if (held.size() == 3) give(out);
      }
      bool flush(Emitter& out) override {
        if (!held.empty()) give(out);
        return !held.empty();
      }
      void give(Emitter& out) {
        out.forward(std::move(held.front().slot));
        held.erase(held.begin());
      }
      bool save(StateWriter& out) const override {
        for (const auto& each : held) out.held(each.input);
        return true;
      }
      void restore(StateReader& in) override {
        while (in.has_held()) held.push_back(in.take_held());
      }
    };
    std::string name() const override { return "keeps"; }
    Flow flow(const Flow& input) const override { return input; }
    std::int64_t elements_held() const override { return 3; }
    std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(); }
  };
  expect_resumes_anywhere(
      range(20).map(failing_on(6)).then<std::int64_t>(std::make_shared<Keeps>()).map(failing_on(4)));
}

// The first element of a pass has a header before it, unless a state of nothing was restored.
TEST(SavePoint, OfAStateThatWritesNothingIsRestored) {
  struct Headed final : StreamOp {
    struct State final : StreamState {
      bool is_first = true;
      void begin_pass(Emitter&) override { is_first = true; }
      void element(Slot&& slot, Emitter& out) override {
        if (std::exchange(is_first, false)) out.emit(Element(std::int64_t{-1}), slot.stamp);
        out.forward(std::move(slot));
      }
      bool save(StateWriter&) const override { return true; }
      void restore(StateReader&) override { is_first = false; }
    };
    std::string name() const override { return "headed"; }
    Flow flow(const Flow&) const override { return {}; }
    std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(); }
  };
  expect_resumes_anywhere(range(9).map(plus_one).then<std::int64_t>(std::make_shared<Headed>()));
}

// What fails at a pass's beginning has failed before a save point that stands behind it.
TEST(SavePoint, OfAMergeThatCannotBeginAPassTellsThatOnce) {
  struct Fails final : MergeOp {
    struct State final : MergeState {
      void begin_pass(const Stamp&) override { throw std::runtime_error("no pass"); }
      Want want() const override { return Want::nothing(); }
      void take(std::size_t, Slot&&, Emitter&) override {}
      void ended(std::size_t, Emitter&) override {}
      bool save(StateWriter&) const override { return true; }
    };
    std::string name() const override { return "fails"; }
    Flow flow_of(std::span<const Flow>) const override { return {}; }
    std::unique_ptr<MergeState> open(std::size_t) const override { return std::make_unique<State>(); }
  };
  const auto fails = merge<std::int64_t>(std::make_shared<Fails>(), branch(2), branch(3));
  expect_resumes_anywhere(
      fails.concatenate(branch(3).map(plus_one)).enumerate().map([](std::tuple<std::int64_t, std::int64_t> numbered) {
        return 100 * std::get<0>(numbered) + std::get<1>(numbered);
      }));
}

// An open dataset may give all that is wanted of the pass before the inputs that were used up have come again.
TEST(SavePoint, OfANestWhosePassIsCutGoesOn) {
  const auto file = [](std::int64_t number) { return number == 0 ? range(100) : range(1); };
  const auto slow = from_generator([i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    std::this_thread::sleep_for(1ms);
    return i < 8 ? std::optional(i++) : std::nullopt;
  });
  expect_resumes_anywhere(slow.interleave(file, {.cycle_length = 2, .block_length = 10}).take(20).repeat(2));
}

class Shrinks final : public IndexedSource {
 public:
  std::int64_t size() const override { return *elements; }
  Element at(std::int64_t index) const override { return Element(index); }
  const std::shared_ptr<std::int64_t> elements = std::make_shared<std::int64_t>(100);
};

TEST(SavePoint, BehindTheEndOfASourceThatHasShrunkIsRefused) {
  const auto source = std::make_shared<Shrinks>();
  const auto data = from_indexed<std::int64_t>(source, "mine").map(plus_one).take(80);
  const auto from = saved_behind(data, 50);
  *source->elements = 9;
  EXPECT_ERROR(data.start({.resume_from = from}).next(), ErrorCode::data_loss, "elements of a source that has only 9");
}

TEST(SavePoint, BehindTheEndOfAGeneratorThatEndsEarlierIsReported) {
  const auto end = std::make_shared<std::int64_t>(100);
  const auto data =
      from_generator([i = std::int64_t{0}, end]() mutable { return i < *end ? std::optional(i++) : std::nullopt; })
          .map(plus_one)
          .take(80);
  const auto from = saved_behind(data, 50);
  *end = 9;
  auto again = dense_run(data, {.resume_from = from});
  EXPECT_ERROR(again.next(), ErrorCode::data_loss, "an input did not come to its place there");
}

TEST(SavePoint, OfOtherRewritesIsLeftOutAndTheEpochRunsAgain) {
  const auto data = range(40).map(plus_one).take(-1).shuffle(4, {.seed = 1}).skip(0).take(30);
  const Texts whole = read(data, {});
  const auto from = saved_behind(data, 12);
  ASSERT_FALSE(from->save_point.empty());
  RunOptions options{.resume_from = from};
  options.rewrites.noop_elimination = options.rewrites.selection_pushdown = false;
  EXPECT_EQ(read(data, options), Texts(whole.begin() + 12, whole.end()));
}

}  // namespace
}  // namespace penstock
