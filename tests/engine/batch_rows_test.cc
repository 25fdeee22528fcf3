// Samples that are written into their places in the next batch: the same batches as without, and nothing copied.
#include <atomic>
#include <filesystem>

#include "tests/engine/support.h"

namespace penstock::testing {

// A sample with two tensors.
struct Sample {
  Tensor image;
  Tensor mask;
  std::int64_t id = 0;
};

}  // namespace penstock::testing

template <> struct penstock::Fields<penstock::testing::Sample> {
  using Sample = penstock::testing::Sample;
  static constexpr auto value = std::tuple{&Sample::image, &Sample::mask, &Sample::id};
};

namespace penstock::testing {
namespace {

constexpr std::int64_t kWords = 16;
constexpr std::int64_t kRowBytes = kWords * 8;

Tensor filled(Tensor tensor, std::int64_t value) {
  std::ranges::fill(tensor.values<std::int64_t>(), value);
  return tensor;
}

Tensor row_for(Context& context, std::size_t i, std::int64_t value, Shape shape = {kWords}) {
  return filled(context.outputs().slot(i, DType::i64, shape), value);
}

// One row for each number, in its place.
auto one_row() {
  return [](std::int64_t value, Context& context) {
    context.outputs().declare(1);
    return row_for(context, 0, value);
  };
}

// Rows 10 v, 10 v + 1, ... for the number v: as many as counts[v % size], with one declared more or less where `wrong`
// says so.
auto rows(std::vector<std::size_t> counts, std::int64_t wrong = 0) {
  return [counts, wrong](std::int64_t value, Context& context) {
    const std::size_t count = counts[static_cast<std::size_t>(value) % counts.size()];
    const auto declared = static_cast<std::size_t>(std::max<std::int64_t>(static_cast<std::int64_t>(count) + wrong, 0));
    context.outputs().declare(declared);
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t content = 10 * value + static_cast<std::int64_t>(i);
      result.push_back(i < declared ? row_for(context, i, content) : filled(Tensor(DType::i64, {kWords}), content));
    }
    return result;
  };
}

std::string text_of(const Tensor& batch) {
  std::string text = "[";
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) {
    const Tensor row = batch.row(i);
    const auto values = row.values<std::int64_t>();
    const bool is_whole = std::ranges::all_of(values, [&](std::int64_t value) { return value == values[0]; });
    text += (i > 0 ? " " : "") + (is_whole ? std::to_string(values[0]) : std::string("torn"));
  }
  return text + "]";
}

std::string text_of(const Batch<Sample>& batch) {
  return text_of(batch.column<&Sample::image>()) + text_of(batch.column<&Sample::mask>());
}

struct Outcome {
  Texts texts;
  std::int64_t copied_rows = 0;
};

// What is left of a run. All batches are kept until its end and looked at then: nothing may write to them meanwhile.
template <class T> Outcome rest(Run<T>& run) {
  std::vector<std::pair<std::optional<T>, std::string>> kept;
  while (true) {
    try {
      auto batch = run.next();
      if (!batch) break;
      kept.emplace_back(std::move(batch), "");
    } catch (const ElementError& error) {
      kept.emplace_back(std::nullopt, testing::text_of(error));
    }
  }
  Outcome outcome{{}, run.stats().copied_bytes / kRowBytes};
  for (const auto& [batch, error] : kept) outcome.texts.push_back(batch ? text_of(*batch) : error);
  return outcome;
}

template <class T> Outcome read_all(const Dataset<T>& dataset, const RunOptions& options = {}) {
  auto run = dataset.start(options);
  return rest(run);
}

// Every executor that there is.
std::vector<RunOptions> executors() { return {{.serial = true}, {.threads = 1}, {.threads = 2}, {.threads = 8}}; }

using ::testing::ElementsAre;

TEST(BatchRows, SamplesInTheirPlacesAreNotCopied) {
  for (const RunOptions& options : executors()) {
    const Outcome outcome = read_all(range(10).map(one_row()).batch(4), options);
    EXPECT_THAT(outcome.texts, ElementsAre("[0 1 2 3]", "[4 5 6 7]", "[8 9]"));
    EXPECT_EQ(outcome.copied_rows, 0) << options.threads;
  }
}

TEST(BatchRows, SamplesInMemoryOfTheirOwnAreCopiedAndCounted) {
  const auto fill = [](std::int64_t value) { return filled(Tensor(DType::i64, {kWords}), value); };
  const auto outcome = read_all(range(10).map(fill).batch(4));
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 2 3]", "[4 5 6 7]", "[8 9]"));
  EXPECT_EQ(outcome.copied_rows, 10);
}

TEST(BatchRows, ARemainderIsLeftOutWhereThatIsAskedFor) {
  const Outcome outcome = read_all(range(10).map(one_row()).batch(4, {.drop_remainder = true}).repeat(2));
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 2 3]", "[4 5 6 7]", "[0 1 2 3]", "[4 5 6 7]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, AreFoundThroughUnbatch) {
  const Outcome outcome = read_all(range(5).map(rows({2, 0, 3, 1})).unbatch().batch(4), {.serial = true});
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 20 21]", "[22 30 40 41]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, AreFoundThroughPrefetchAndIgnoredErrors) {
  const Outcome outcome =
      read_all(range(5).map(rows({2})).prefetch(3).ignore_errors().unbatch().prefetch(3).batch(4), {.serial = true});
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 10 11]", "[20 21 30 31]", "[40 41]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, OfAFlatMapAreFoundToo) {
  const Outcome outcome = read_all(range(5).flat_map(rows({2})).batch(4), {.serial = true});
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 10 11]", "[20 21 30 31]", "[40 41]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, AFilterBetweenCostsCopies) {
  const auto is_even = [](const Tensor& row) { return row.values<std::int64_t>()[0] % 2 == 0; };
  const Outcome outcome = read_all(range(10).map(one_row()).filter(is_even).batch(2));
  EXPECT_THAT(outcome.texts, ElementsAre("[0 2]", "[4 6]", "[8]"));
  EXPECT_EQ(outcome.copied_rows, 5);
}

TEST(BatchRows, AShuffleBetweenKeepsEachSampleWhole) {
  Texts texts = read_all(range(50).map(one_row()).shuffle(10, {.seed = 1}).batch(1)).texts;
  std::ranges::sort(texts, {}, [](const std::string& text) { return std::stoi(text.substr(1)); });
  Texts expected;
  for (int i = 0; i < 50; ++i) expected.push_back("[" + std::to_string(i) + "]");
  EXPECT_EQ(texts, expected);
}

// The stage whose results a batch puts together, by position; the batch is the last one.
template <class T> int places_end(const Dataset<T>& dataset) {
  auto run = dataset.start({.serial = true});
  rest(run);
  const Snapshot snapshot = run.snapshot();
  return snapshot.stages.at(static_cast<std::size_t>(snapshot.stages.back().places_end)).position;
}

TEST(BatchRows, EndAtTheOpThatASnapshotNames) {
  const auto same = [](Tensor row) { return row; };
  const auto any = [](const Tensor&) { return true; };
  EXPECT_EQ(places_end(range(10).map(one_row()).batch(2)), 1);
  EXPECT_EQ(places_end(range(10).map(one_row()).prefetch(2).ignore_errors().batch(2)), 1);
  EXPECT_EQ(places_end(range(10).map(rows({2})).unbatch().batch(2)), 1);
  EXPECT_EQ(places_end(range(10).map(one_row()).map(same).batch(2)), 2);
  EXPECT_EQ(places_end(range(10).map(one_row()).filter(any).batch(2)), 2);
  EXPECT_EQ(places_end(range(10).map(one_row()).filter(any).map(same).shuffle(4, {.seed = 1}).ignore_errors().batch(2)),
            4);
}

TEST(BatchRows, OfAFailedSampleGoToThoseBehindIt) {
  for (const std::int64_t bad : {0, 1, 3, 4, 9}) {
    for (const RunOptions& options : executors()) {
      const auto before = [bad](std::int64_t value, Context& context) {
        if (value == bad) throw std::runtime_error("before");
        return one_row()(value, context);
      };
      const auto after = [bad](std::int64_t value, Context& context) {
        const Tensor row = one_row()(value, context);
        if (value == bad) throw std::runtime_error("after");
        return row;
      };
      const auto plain = range(10).map([bad](std::int64_t value) {
        if (value == bad) throw std::runtime_error("plain");
        return filled(Tensor(DType::i64, {kWords}), value);
      });
      const Texts expected = read_all(plain.batch(4), {.serial = true}).texts;
      EXPECT_EQ(read_all(range(10).map(before).batch(4), options).texts, expected) << bad;
      EXPECT_EQ(read_all(range(10).map(after).batch(4), options).texts, expected) << bad;
    }
  }
}

TEST(BatchRows, AnErrorCostsCopiesOfWhatWasUnderWayOnly) {
  const auto failing = [](std::int64_t value, Context& context) {
    const Tensor row = one_row()(value, context);
    if (value == 5) throw std::runtime_error("planted");
    return row;
  };
  const Outcome serially = read_all(range(1000).map(failing).batch(10), {.serial = true});
  EXPECT_EQ(serially.copied_rows, 0);
  const Outcome outcome = read_all(range(100'000).map(failing).batch(10), {.threads = 2, .tune = false});
  EXPECT_LT(outcome.copied_rows, 10'000);
}

TEST(BatchRows, AWrongNumberCostsCopiesOnly) {
  for (const std::int64_t wrong : {-2, -1, 1, 2}) {
    for (const RunOptions& options : executors()) {
      const Outcome outcome = read_all(range(6).map(rows({2, 3, 1}, wrong)).unbatch().batch(3), options);
      EXPECT_THAT(outcome.texts, ElementsAre("[0 1 10]", "[11 12 20]", "[30 31 40]", "[41 42 50]")) << wrong;
    }
  }
}

TEST(BatchRows, AreFoundAgainAfterAWrongNumber) {
  const auto wrong_once = [](std::int64_t value, Context& context) {
    return rows({2}, value == 3 ? 1 : 0)(value, context);
  };
  const Outcome outcome = read_all(range(1000).map(wrong_once).unbatch().batch(4), {.serial = true});
  EXPECT_LT(outcome.copied_rows, 10);
}

// The batch refuses one sample: what was counted for it is nobody's.
TEST(BatchRows, AreFoundAgainAfterASampleThatDoesNotFit) {
  const auto odd_once = [](std::int64_t value, Context& context) {
    context.outputs().declare(1);
    return value == 5 ? row_for(context, 0, value, {kWords + 1}) : row_for(context, 0, value);
  };
  const Outcome outcome = read_all(range(1000).map(odd_once).batch(4), {.serial = true});
  EXPECT_EQ(outcome.texts[1], "x5");
  EXPECT_EQ(outcome.texts[2], "[4 6 7 8]");
  EXPECT_LT(outcome.copied_rows, 10);
}

TEST(BatchRows, OfAStructAreThereForEachOfItsTensors) {
  const auto make = [](std::int64_t value, Context& context) {
    context.outputs().declare(1);
    return Sample{row_for(context, 0, value), row_for(context, 0, -value, {2, kWords}), value};
  };
  const Outcome outcome = read_all(range(5).map(make).batch(2));
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1][0 -1]", "[2 3][-2 -3]", "[4][-4]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, GoOnThroughRepeats) {
  for (const RunOptions& options : executors()) {
    const Outcome before = read_all(range(3).map(one_row()).repeat(3).batch(2), options);
    EXPECT_THAT(before.texts, ElementsAre("[0 1]", "[2 0]", "[1 2]", "[0 1]", "[2]"));
    EXPECT_EQ(before.copied_rows, 0);
    const Outcome after = read_all(range(3).map(one_row()).batch(2).repeat(2), options);
    EXPECT_THAT(after.texts, ElementsAre("[0 1]", "[2]", "[0 1]", "[2]"));
    EXPECT_EQ(after.copied_rows, 0);
    const Outcome cut = read_all(range(30).map(one_row()).batch(2).take(3).repeat(3), options);
    EXPECT_THAT(cut.texts,
                ElementsAre("[0 1]", "[2 3]", "[4 5]", "[0 1]", "[2 3]", "[4 5]", "[0 1]", "[2 3]", "[4 5]"));
    const Outcome endless = read_all(range(3).map(one_row()).repeat().batch(2).take(4), options);
    EXPECT_THAT(endless.texts, ElementsAre("[0 1]", "[2 0]", "[1 2]", "[0 1]"));
  }
}

TEST(BatchRows, GoOnFromEpochToEpoch) {
  auto run = range(5).map(one_row()).batch(2).start({.epochs = 3});
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    run.epoch(epoch);
    EXPECT_THAT(rest(run).texts, ElementsAre("[0 1]", "[2 3]", "[4]"));
  }
  EXPECT_EQ(run.stats().copied_bytes, 0);
}

TEST(BatchRows, AreThereAgainAfterAnEpochWasLeftEarly) {
  auto run = range(1000).map(one_row()).batch(2).start();
  EXPECT_EQ(text_of(*run.next()), "[0 1]");
  run.epoch(1);
  const Outcome outcome = rest(run);
  EXPECT_EQ(outcome.texts.size(), 500u);
  EXPECT_EQ(outcome.texts[499], "[998 999]");
}

// Nobody knows how many results they would have had.
TEST(BatchRows, AreThereAgainAfterElementsThatWaitedWereLetGo) {
  const auto blocked = [row = rows({1})](std::int64_t value, Context& context) {
    while (context.epoch() == 0 && value >= 8 && !context.is_unwanted()) std::this_thread::sleep_for(1ms);
    return row(value, context);
  };
  auto run = range(40).flat_map(blocked, 1, {.blocks = true}).batch(4).start({.epochs = 2, .tune = false});
  static_cast<void>(run.next());
  ASSERT_TRUE(eventually([&run] { return run.snapshot().stages[1].in_window == 2; }))
      << "one runs, and one waits behind it";
  run.epoch(1);
  const std::int64_t copied = run.stats().copied_bytes;
  EXPECT_EQ(rest(run).texts.size(), 10u);
  EXPECT_EQ(run.stats().copied_bytes, copied);
}

TEST(BatchRows, GoOnBehindACheckpoint) {
  const auto dataset = range(1000).map(rows({3})).unbatch().batch(4);
  const Texts all = read_all(dataset, {.serial = true}).texts;
  for (const std::size_t taken : {1u, 2u, 7u}) {
    for (RunOptions options : executors()) {
      auto first = dataset.start(options);
      for (std::size_t i = 0; i < taken; ++i) static_cast<void>(first.next());
      options.resume_from = std::make_shared<Checkpoint>(first.checkpoint());
      const Outcome outcome = read_all(dataset, options);
      EXPECT_EQ(outcome.texts, Texts(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end())) << taken;
      if (options.serial) {
        EXPECT_LT(outcome.copied_rows, 10);
      }
    }
  }
}

// Places of later samples are known, though the first of them is still being made.
TEST(BatchRows, OfSeveralBatchesAreOpenAtOnce) {
  std::atomic<int> begun{0};
  const auto first_is_last = [&begun](std::int64_t value, Context& context) {
    context.outputs().declare(1);
    Tensor row = context.outputs().slot(0, DType::i64, {kWords});
    ++begun;
    if (value == 0) {
      EXPECT_TRUE(eventually([&] { return begun >= 6; }));
    }
    return filled(std::move(row), value);
  };
  auto run = range(8).map(first_is_last, 6).batch(2).start({.threads = 8, .tune = false});
  for (Knob& knob : run.knobs()) {
    if (knob.name == "window" || knob.name == "buffer") knob.set(8);
  }
  const Outcome outcome = rest(run);
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1]", "[2 3]", "[4 5]", "[6 7]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, OfAnOpThatCompletesLaterAreInPlaceToo) {
  class Later final : public ElementwiseOp {
   public:
    std::string name() const override { return "later"; }
    Flow flow(const Flow& input) const override { return input; }
    Form form() const override { return Form::completes_later; }
    Declares declares() const override { return Declares::one_each; }
    void start(Element value, Context& context, Completion completion) const override {
      context.outputs().declare(1);
      completion.complete(Element(row_for(context, 0, value.take<std::int64_t>())));
    }
  };
  const Outcome outcome = read_all(range(10).then<Tensor>(std::make_shared<Later>()).batch(4));
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 2 3]", "[4 5 6 7]", "[8 9]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, AreOnlyTheResultsOfTheLastOpBeforeTheBatch) {
  const auto copy = [](const Tensor& row, Context& context) {
    EXPECT_EQ(Outputs::batch_bytes(row), 0u);
    context.outputs().declare(1);
    Tensor result = row_for(context, 0, row.values<std::int64_t>()[0]);
    EXPECT_EQ(Outputs::batch_bytes(result), static_cast<std::size_t>(3 * kRowBytes));
    return result;
  };
  const Outcome outcome = read_all(range(6).map(one_row()).map(copy).batch(3));
  EXPECT_THAT(outcome.texts, ElementsAre("[0 1 2]", "[3 4 5]"));
  EXPECT_EQ(outcome.copied_rows, 0);
}

TEST(BatchRows, LeaveNothingBehindWhenARunIsAbandoned) {
  for (int i = 0; i < 20; ++i) {
    auto run = range(1000).map(rows({3})).unbatch().batch(7).start({.threads = 8});
    EXPECT_EQ(text_of(*run.next()), "[0 1 2 10 11 12 20]");
  }
}

}  // namespace
}  // namespace penstock::testing
