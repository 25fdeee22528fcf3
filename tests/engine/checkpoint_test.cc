// Checkpoints: at every position of small pipelines, the rest is the rest.
#include <functional>
#include <memory>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

using Saved = std::shared_ptr<const Checkpoint>;

template <class T> Saved save(const Run<T>& run) { return std::make_shared<Checkpoint>(run.checkpoint()); }

// Everything from a checkpoint to the end of that epoch, then the next one.
template <class T> Texts on_from(const Dataset<T>& data, const Saved& saved, RunOptions options) {
  options.resume_from = saved;
  auto run = data.start(options);
  Texts texts = rest_of(run);
  texts.emplace_back("|");
  run.epoch(saved->epoch + 1);
  for (const std::string& text : rest_of(run)) texts.push_back(text);
  return texts;
}

template <class T> Texts two_epochs(const Dataset<T>& data) {
  auto run = data.start();
  Texts texts = rest_of(run);
  texts.emplace_back("|");
  run.epoch(1);
  for (const std::string& text : rest_of(run)) texts.push_back(text);
  return texts;
}

// Tells what was asked for.
class AskedSource final : public IndexedSource {
 public:
  std::int64_t size() const override { return 100'000; }
  Element at(std::int64_t index) const override {
    ++asked;
    return Element(index);
  }
  mutable std::atomic<std::int64_t> asked{0};
};

TEST(Checkpoint, IsResumedWithoutMakingWhatWasDelivered) {
  const auto source = std::make_shared<AskedSource>();
  const Dataset<std::int64_t> all(
      graph::build(nullptr, "mine", CallSite::here(), [&] { return ops::indexed_source("mine", "", source); }));
  for (const auto& order :
       {all.shuffle(100'000, {.seed = 3}), all.shuffle(100, {.seed = 3}), all.skip(10).shard(2, 1)}) {
    const auto data = order.batch(10);
    auto first = data.start({.serial = true});
    for (int i = 0; i < 4000; ++i) first.next();
    const Saved saved = save(first);
    source->asked = 0;
    auto second = data.start({.serial = true, .resume_from = saved});
    const auto batch = second.next();
    EXPECT_LE(source->asked, 12);
    EXPECT_EQ(batch, first.next());
  }
}

TEST(Checkpoint, IsRefusedWithinAnEpochThatComesInAnyOrder) {
  const auto data = range(3).map(plus_one, 2, {.order = Order::arbitrary});
  auto run = data.start();
  Saved saved = save(run);  // nothing was delivered yet
  EXPECT_EQ(data.start({.resume_from = saved}).checkpoint().delivered, 0);
  run.next();
  EXPECT_ERROR(save(run), ErrorCode::failed_precondition, "arbitrary order");
  auto forged = std::make_shared<Checkpoint>(*saved);
  forged->delivered = forged->errors_since = 1;
  EXPECT_ERROR(data.start({.resume_from = forged}), ErrorCode::failed_precondition, "arbitrary order");
  rest_of(run);
  saved = save(run);
  auto next = data.start({.resume_from = saved});
  EXPECT_FALSE(next.next());
  next.epoch(1);
  EXPECT_EQ(rest_of(next).size(), 3);
}

// Saves behind every element, goes on twice from each, serially and in parallel.
template <class T> void expect_resumes_anywhere(const Dataset<T>& data, Checkpoint::Kind kind) {
  const Texts whole = two_epochs(data);
  const auto border = std::find(whole.begin(), whole.end(), "|") - whole.begin();
  auto run = data.start();
  for (std::ptrdiff_t taken = 0; taken <= border; ++taken) {
    SCOPED_TRACE("behind element " + std::to_string(taken));
    const Saved saved = save(run);
    EXPECT_EQ(saved->kind, kind);
    const Texts rest(whole.begin() + taken, whole.end());
    EXPECT_EQ(on_from(data, saved, {}), rest);
    EXPECT_EQ(on_from(data, saved, {}), rest) << "the second time";
    EXPECT_EQ(on_from(data, saved, {.serial = true}), rest) << "serially";
    EXPECT_EQ(on_from(data, saved, {.epochs = 2}), rest) << "reading ahead";
    next_text(run);
    if (::testing::Test::HasFailure()) return;
  }
}

constexpr auto kPosition = Checkpoint::Kind::position;
constexpr auto kReplay = Checkpoint::Kind::replay;

bool is_even(std::int64_t value) { return value % 2 == 0; }
std::vector<std::int64_t> few(std::int64_t value) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(value % 3), value);
}
struct Twice {
  std::int64_t operator()(std::int64_t value, Context& context) const {
    return value * 1000 + context.rng().uniform(0, 1000);
  }
};

TEST(Checkpoint, ByPositionOfMapsAndFilters) {
  expect_resumes_anywhere(range(9).map(plus_one).filter(is_even).map(Twice{}), kPosition);
}

TEST(Checkpoint, ByPositionBehindAShuffleOfPositions) {
  expect_resumes_anywhere(range(11).shuffle(11, {.seed = 4}).map(plus_one), kPosition);
  expect_resumes_anywhere(range(11).shuffle(3, {.seed = 4}).shard(2, 1).map(Twice{}), kPosition);
}

TEST(Checkpoint, ByPositionBehindABatch) {
  expect_resumes_anywhere(range(10).map(plus_one).batch(3), kPosition);
  expect_resumes_anywhere(range(10).map(plus_one).filter(is_even).batch(2, {.drop_remainder = true}), kPosition);
}

TEST(Checkpoint, ByPositionInTheMiddleOfWhatOneElementGave) {
  expect_resumes_anywhere(range(8).map(few).unbatch().map(plus_one), kPosition);
  expect_resumes_anywhere(range(8).map(few).unbatch().batch(2), kPosition);
}

TEST(Checkpoint, ByPositionWithErrors) {
  expect_resumes_anywhere(range(7).map(failing_at(2)).map(failing_at(3)).map(failing_at(6)), kPosition);
  expect_resumes_anywhere(range(9).map(failing_at(0)).map(failing_at(4)).batch(2), kPosition);
  expect_resumes_anywhere(range(6).map(failing_at(2)).ignore_errors().map(failing_at(4)), kPosition);
}

TEST(Checkpoint, ByPositionInRepeats) {
  expect_resumes_anywhere(range(4).shuffle(4, {.seed = 2}).map(plus_one).repeat(3), kPosition);
  expect_resumes_anywhere(range(3).map(few).unbatch().repeat(2).map(Twice{}).repeat(2), kPosition);
}

TEST(Checkpoint, ByReplayOfAShuffleOverAStream) {
  expect_resumes_anywhere(range(9).map(plus_one).shuffle(4, {.seed = 4}), kReplay);
  expect_resumes_anywhere(range(9).map(failing_at(3)).shuffle(4, {.seed = 4}).batch(2), kReplay);
}

TEST(Checkpoint, ByReplayOfTakesAndSkipsOverAStream) {
  expect_resumes_anywhere(range(9).map(plus_one).take(5), kReplay);
  expect_resumes_anywhere(range(9).map(plus_one).skip(2).take(4).repeat(2), kReplay);
  expect_resumes_anywhere(range(9).map(few).unbatch().batch(2).unbatch().batch(3), kReplay);
}

TEST(Checkpoint, OfAGenerator) {
  const auto data =
      from_generator([i = std::int64_t{0}]() mutable { return i < 6 ? std::optional(i++) : std::nullopt; });
  const auto run = data.start();
  expect_resumes_anywhere(data.map(plus_one), run.checkpoint().kind);
}

// The error comes before the remainder, though its element stands behind the remainder's.
TEST(Checkpoint, BehindARemainderAfterAnError) {
  expect_resumes_anywhere(range(7).map(failing_at(6)).batch(4), kPosition);
  expect_resumes_anywhere(range(8).map(failing_at(6)).map(failing_at(7)).batch(4), kPosition);
}

TEST(Checkpoint, OfAnEndlessRepeat) {
  const auto data = range(3).shuffle(3, {.seed = 1}).map(plus_one).repeat();
  auto run = data.start();
  for (int taken = 0; taken < 20; ++taken) {
    auto again = data.start({.resume_from = save(run)});
    auto unbroken = data.start();
    for (int i = 0; i < taken; ++i) unbroken.next();
    for (int i = 0; i < 10; ++i) ASSERT_EQ(again.next(), unbroken.next()) << taken << " " << i;
    run.next();
  }
}

// What is left of the pass is nothing, and yet it is no empty pass, which would end the repeat.
TEST(Checkpoint, AtTheEndOfAPassOfAnEndlessRepeat) {
  const auto data = range(4).batch(2).repeat();
  auto run = data.start();
  for (int i = 0; i < 2; ++i) run.next();
  auto again = data.start({.resume_from = save(run)});
  for (const char* expected : {"[0 1]", "[2 3]", "[0 1]"}) EXPECT_EQ(next_text(again), expected);
}

TEST(Checkpoint, LeavesNothingOutOfAnotherEpoch) {
  for (const auto& data : {range(400).map(plus_one), range(400).map(plus_one).batch(1).unbatch()}) {
    auto run = data.start();
    for (int i = 0; i < 300; ++i) run.next();
    const Saved saved = save(run);
    for (int i = 0; i < 20; ++i) {
      auto again = data.start({.resume_from = saved});
      again.knobs();  // it begins to read
      again.epoch(3);
      ASSERT_EQ(rest_of(again), numbers(1, 401));
    }
  }
}

TEST(Checkpoint, OfAResumedRunGoesOnAgain) {
  const auto data = range(20).map(few).unbatch().shuffle(5, {.seed = 3}).batch(2);
  auto unbroken = data.start();
  const Texts whole = rest_of(unbroken);
  Saved saved;
  for (const std::string& expected : whole) {
    auto run = data.start({.resume_from = saved});
    EXPECT_EQ(next_text(run), expected);
    saved = save(run);
  }
}

TEST(Checkpoint, TakenInALaterEpochGoesOnThere) {
  const auto data = range(10).map(plus_one).shuffle(10, {.seed = 3});
  auto run = data.start();
  run.epoch(4);
  for (int i = 0; i < 6; ++i) run.next();
  const Saved saved = save(run);
  EXPECT_EQ(saved->epoch, 4u);
  auto again = data.start({.resume_from = saved});
  EXPECT_EQ(rest_of(again), rest_of(run));
}

TEST(Checkpoint, DoesNotCutShortAnotherEpoch) {
  for (const auto& data : {range(10).map(plus_one), range(10).map(plus_one).shuffle(4, {.seed = 3})}) {
    auto run = data.start();
    for (int i = 0; i < 6; ++i) run.next();
    const Saved saved = save(run);
    run.epoch(3);
    const Texts third = rest_of(run);
    ASSERT_EQ(third.size(), 10u);
    auto at_once = data.start({.resume_from = saved});
    at_once.epoch(3);
    EXPECT_EQ(rest_of(at_once), third) << "asked for at once";
    auto later = data.start({.resume_from = saved});
    later.next();
    later.epoch(3);
    EXPECT_EQ(rest_of(later), third) << "asked for after an element";
  }
}

TEST(Checkpoint, IsResumedByTheLoopOverItsEpochWhateverWasAskedBefore) {
  const auto data = range(10).map(plus_one).shuffle(4, {.seed = 3});
  auto run = data.start();
  for (int i = 0; i < 6; ++i) run.next();
  const Saved saved = save(run);
  auto again = data.start({.resume_from = saved});
  again.knobs();
  again.epoch(0);
  EXPECT_EQ(rest_of(again), rest_of(run));
}

// A look at the knobs starts the engine.
TEST(Checkpoint, TakenAtAnEpochsEndGoesOnWithTheNextOneWhateverWasAskedBefore) {
  const auto data = range(10).map(plus_one).shuffle(4, {.seed = 3});
  auto run = data.start();
  rest_of(run);
  const Saved saved = save(run);
  ASSERT_TRUE(saved->epoch_ended);
  Texts following[3];
  for (std::uint32_t epoch : {1u, 2u}) {
    run.epoch(epoch);
    following[epoch] = rest_of(run);
  }
  for (std::uint32_t announced : {0u, 1u, 3u}) {
    for (std::uint32_t first : {1u, 2u}) {
      auto again = data.start({.epochs = announced, .resume_from = saved});
      again.knobs();
      ASSERT_TRUE(eventually([&] { return again.snapshot().consumer.ready > 0; }));
      EXPECT_EQ(rest_of(again), Texts{});
      again.epoch(first);
      EXPECT_EQ(rest_of(again), following[first]) << "epoch " << first << " with " << announced << " announced";
    }
  }
}

TEST(Checkpoint, TakenAtAnEpochsEndMayGoBackToItWhateverWasAskedBefore) {
  const auto data = range(10).map(plus_one).shuffle(4, {.seed = 3});
  auto run = data.start();
  const Texts first = rest_of(run);
  auto again = data.start({.epochs = 3, .resume_from = save(run)});
  again.knobs();
  again.epoch(0);
  EXPECT_EQ(rest_of(again), first);
}

TEST(Checkpoint, OfAnotherPipelineIsRefusedWithBoth) {
  auto run = range(5).map(plus_one).start();
  const Saved saved = save(run);
  EXPECT_ERROR(range(6).map(plus_one).start({.resume_from = saved}), ErrorCode::failed_precondition, "range");
}

TEST(Checkpoint, WeighsLittle) {
  auto run = range(1'000'000).shuffle(1'000'000, {.seed = 3}).map(plus_one).batch(128).start();
  for (int i = 0; i < 5; ++i) run.next();
  EXPECT_LT(sizeof(Checkpoint) + run.checkpoint().pipeline.size(), 1024u);
}

}  // namespace
}  // namespace penstock
