// Save points of what is not as it was: something fails that did not, or the other way round, or is not there any more.
// A resumed run then gives what it would have given, or ends with an error.
#include <atomic>
#include <memory>
#include <set>

#include "tests/engine/save_points.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using namespace testing;

using Flag = std::shared_ptr<std::atomic<std::int64_t>>;
Flag flag(std::int64_t value) { return std::make_shared<std::atomic<std::int64_t>>(value); }

// As it is, but for an input that fails when `bad` says so.
std::function<std::int64_t(std::int64_t)> failing_when(const std::shared_ptr<std::atomic<std::int64_t>>& bad) {
  return [bad](std::int64_t value) {
    if (value == *bad) throw std::runtime_error("flaky");
    return value;
  };
}

// ------------------------------------------------------------------------------------------------ what fails now

TEST(SavePoint, OfAShuffleWhoseInputFailsNowTellsItsErrorInTheElementsPlace) {
  const auto bad = std::make_shared<std::atomic<std::int64_t>>(-1);
  for (const auto order : {ShuffleOrder::keyed, ShuffleOrder::tensorflow}) {
    const auto data = range(40).map(failing_when(bad)).shuffle(8, {.seed = 3, .order = order});
    auto run = dense_run(data, {.serial = true});
    for (int taken = 0; taken < 20; ++taken) run.next();
    const auto place = saved(run);
    const Texts rest = rest_of(run);
    for (int oldest = 0; oldest < 2; ++oldest) {  // which were surely held
      Texts by_age = rest;
      std::ranges::sort(by_age, {}, [](const std::string& text) { return std::stoi(text); });
      const std::string held = by_age[static_cast<std::size_t>(oldest)];
      *bad = std::stoi(held);
      Texts expected = rest;
      std::ranges::replace(expected, held, "x" + held);
      auto again = dense_run(data, {.resume_from = place});
      EXPECT_EQ(rest_of(again), expected);
    }
    *bad = -1;
  }
}

TEST(SavePoint, OfAGroupWhoseInputFailsNowEndsTheRun) {
  const auto bad = std::make_shared<std::atomic<std::int64_t>>(-1);
  const auto data = range(40).map(failing_when(bad)).group_by_window([](std::int64_t value) { return value % 7; }, 4);
  const auto place = saved_behind(data, 2);
  *bad = 2;
  auto run = dense_run(data, {.on_error = skip_all(), .resume_from = place});
  EXPECT_ERROR(while (run.next()){}, ErrorCode::internal,
               "that was held when the checkpoint was taken fails this time");
}

TEST(SavePoint, OfASourceThatCannotBeginItsPassEndsTheRun) {
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  const auto open = [is_gone](Pass) {
    if (*is_gone) throw std::runtime_error("no such file");
    return [i = std::int64_t{0}]() mutable { return i < 100 ? std::optional(i++) : std::nullopt; };
  };
  const auto data = from_generator(open).shuffle(10, {.seed = 1});
  const auto place = saved_behind(data, 50);
  *is_gone = true;
  auto run = dense_run(data, {.resume_from = place});
  EXPECT_ERROR(while (run.next()){}, ErrorCode::internal, "no such file");
}

// From each place, with one of the inputs failing: each element comes once, or is told to be missing.
template <class T> void expect_nothing_is_lost(const Dataset<T>& data, const Flag& bad, std::int64_t inputs) {
  const Texts whole = read(data);
  std::int64_t ended = 0, went_on = 0;
  for (int place = 1; place < std::ssize(whole); ++place) {
    const auto from = saved_behind(data, place);
    for (*bad = 0; *bad < inputs; ++*bad) {
      SCOPED_TRACE("behind " + std::to_string(place) + ", input " + std::to_string(*bad) + " fails");
      auto run = dense_run(data, {.on_error = skip_all(), .resume_from = from});
      std::multiset<std::string> seen(whole.begin(), whole.begin() + place);
      try {
        while (auto next = run.next()) seen.insert(std::to_string(*next));
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("fails this time"));
        ++ended;
        continue;
      }
      ++went_on;
      for (const std::string& text : seen) EXPECT_EQ(seen.count(text), 1u) << text;
      if (run.stats().errors == 0) {
        EXPECT_EQ(seen.size(), whole.size());
      }
    }
    *bad = -1;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(ended, 0);
  EXPECT_GT(went_on, 0);
}

// Numbers of six elements each, which tell the input.
std::vector<std::int64_t> six_of(std::int64_t input) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < 6; ++i) list.push_back(100 * input + i);
  return list;
}

TEST(SavePoint, OfANestWhoseDatasetsFailNowLosesNothing) {
  const Flag bad = flag(-1);
  const auto opened = [bad](std::int64_t input) {
    if (input == *bad) throw std::runtime_error("flaky");
    return range(6).map([input](std::int64_t i) { return 100 * input + i; });
  };
  expect_nothing_is_lost(range(5).interleave(opened, {.cycle_length = 2}), bad, 5);
  expect_nothing_is_lost(range(5).map(plus_one).interleave(opened, {.cycle_length = 3, .block_length = 2}), bad, 6);
}

TEST(SavePoint, OfANestWhoseInputsFailNowLosesNothing) {
  const Flag bad = flag(-1);
  const auto opened = [](std::int64_t input) { return range(100 * input, 100 * input + 6); };
  expect_nothing_is_lost(range(5).map(failing_when(bad)).interleave(opened, {.cycle_length = 2}), bad, 5);
}

TEST(SavePoint, OfBatchesWhoseInputsFailNowLosesNothing) {
  const Flag bad = flag(-1);
  expect_nothing_is_lost(counted(30).shuffle(8, {.seed = 3}).map(failing_when(bad)).batch(4).unbatch(), bad, 30);
  expect_nothing_is_lost(range(10).map(failing_when(bad)).flat_map(six_of).shuffle(7, {.seed = 3}), bad, 10);
}

TEST(SavePoint, OfBranchesWhoseInputsFailNowLosesNothing) {
  const Flag bad = flag(-1);
  const auto lists = counted(5).map(failing_when(bad)).flat_map(six_of);
  expect_nothing_is_lost(lists.concatenate(counted(40).map([](std::int64_t i) { return 1000 + i; })), bad, 5);
}

TEST(SavePoint, OfACacheWhoseInputFailsNowSaysSo) {
  const Flag bad = flag(-1);
  const auto made = [bad] { return counted(500).map(failing_when(bad)).cache().map(plus_one); };
  const auto place = saved_behind(made(), 300);
  *bad = 7;
  auto run = dense_run(made(), {.on_error = skip_all(), .resume_from = place});
  EXPECT_ERROR(run.next(), ErrorCode::data_loss, "fails where it did not");
}

// Errors are in no file: its elements are at other places than those that were read with errors among them.
TEST(SavePoint, OfACacheWithErrorsDoesNotGoOnInAFileWithoutThem) {
  const test::TemporaryFolder folder;
  const Flag bad = flag(3);
  const auto path = (folder.path() / "cache").string();
  const auto made = [&] { return counted(9).map(failing_when(bad)).flat_map(six_of).cache(path); };
  auto first = dense_run(made(), {.on_error = skip_all(), .serial = true});
  for (int taken = 0; taken < 36; ++taken) first.next();
  const auto place = saved(first);
  ASSERT_EQ(first.stats().errors, 1);
  *bad = -1;
  ASSERT_EQ(read(made()).size(), 54u);
  *bad = 3;
  const Texts rest = rest_of(first);
  auto again = dense_run(made(), {.on_error = skip_all(), .resume_from = place});
  EXPECT_EQ(rest_of(again), rest);
}

TEST(SavePoint, OfASourceThatCannotBeginItsPassAgainEndsTheRun) {
  const Flag is_gone = flag(0);
  const auto open = [is_gone](Pass) {
    if (is_gone->exchange(0) == 1) throw std::runtime_error("no such file");
    return [i = std::int64_t{0}]() mutable { return i < 100 ? std::optional(i++) : std::nullopt; };
  };
  const auto data = from_generator(open).shuffle(10, {.seed = 1}).repeat(2);
  auto first = data.start({.serial = true});  // its last save point is at the pass's beginning, or near there
  for (int taken = 0; taken < 5; ++taken) first.next();
  const auto place = saved(first);
  ASSERT_FALSE(place->save_point.empty());
  *is_gone = 1;
  auto run = data.start({.on_error = skip_all(), .resume_from = place});
  EXPECT_ERROR(while (run.next()){}, ErrorCode::internal, "no such file");
}

TEST(SavePoint, OfAMergeThatCannotBeginItsPassAgainEndsTheRun) {
  struct Merges final : MergeOp {
    struct State final : MergeState {
      explicit State(std::atomic<bool>& fail) : fails(fail) {}
      void begin_pass(const Stamp&) override {
        if (fails.exchange(false)) throw std::runtime_error("no such table");
        has_ended = false;
      }
      Want want() const override { return has_ended ? Want::nothing() : Want::one(0); }
      void take(std::size_t, Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
      void ended(std::size_t, Emitter&) override { has_ended = true; }
      bool save(StateWriter& out) const override {
        out.number(has_ended ? 1 : 0);
        return true;
      }
      void restore(StateReader& in) override { has_ended = in.number(0, 1) == 1; }
      std::atomic<bool>& fails;
      bool has_ended = false;
    };
    std::string name() const override { return "merges"; }
    Flow flow_of(std::span<const Flow> inputs) const override { return inputs[0]; }
    std::unique_ptr<MergeState> open(std::size_t) const override { return std::make_unique<State>(fails); }
    mutable std::atomic<bool> fails{false};
  };
  const auto op = std::make_shared<Merges>();
  const auto data = merge<std::int64_t>(op, counted(20)).repeat(3);
  const auto place = saved_behind(data, 7);
  op->fails = true;
  auto run = dense_run(data, {.on_error = skip_all(), .resume_from = place});
  EXPECT_ERROR(while (run.next()){}, ErrorCode::internal, "no such table");
}

// Behind that error nothing more comes, however much is ready; another epoch does.
TEST(SavePoint, OfWhatFailsNowGivesNothingMore) {
  const Flag bad = flag(-1);
  const auto firsts = [](const std::vector<std::int64_t>& window) { return window.front(); };
  const auto data = range(12).map(failing_when(bad)).window(4).map(firsts);
  for (int i = 0; i < 50; ++i) {
    auto run = data.start();
    run.next();
    const auto place = saved(run);
    *bad = 0;
    auto again = data.start({.epochs = 2, .on_error = skip_all(), .resume_from = place});
    for (int request = 0; request < 2; ++request) {
      EXPECT_ERROR(again.next(), ErrorCode::internal, "fails this time");
    }
    EXPECT_FALSE(again.checkpoint().epoch_ended);
    *bad = -1;
    for (const std::uint32_t epoch : {0u, 1u}) {
      again.epoch(epoch);
      EXPECT_EQ(rest_of(again).size(), 3u) << "epoch " << epoch;
    }
  }
}

// Errors that an op leaves out are not among those that are counted.
TEST(SavePoint, OfWhatIsLeftOutNowIsRefused) {
  const Flag bad = flag(-1);
  const auto data = range(20).map(failing_when(bad)).ignore_errors().shuffle(3, {.seed = 1});
  auto run = data.start();
  for (int taken = 0; taken < 6; ++taken) run.next();
  const auto place = saved(run);
  *bad = 0;
  auto again = data.start({.resume_from = place});
  EXPECT_ERROR(while (again.next()){}, ErrorCode::data_loss, "is not at its place this time");
}

// ------------------------------------------------------------------------------------------------ what fails no more

TEST(SavePoint, OfABatchOfWhatFailsNoMoreIsRefused) {
  const Flag bad = flag(12);
  const auto data = counted(40).shuffle(4, {.seed = 3}).map(failing_when(bad)).batch(4).unbatch();
  auto first = data.start({.on_error = skip_all(), .serial = true});
  while (first.stats().errors == 0) first.next();
  const auto place = saved(first);
  *bad = -1;
  ::testing::internal::CaptureStderr();
  EXPECT_ERROR(read(data, {.resume_from = place}), ErrorCode::data_loss, "is not at its place this time");
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      ::testing::HasSubstr("errors that were delivered before the checkpoint was taken do not happen this time (1 "));
}

// Errors that do not come again are of no pass, nor of a later save point.
template <class T> void expect_can_be_resumed_twice(const Dataset<T>& data, const Flag& bad) {
  for (int first = 1; first < 25; ++first) {
    *bad = 2;
    auto run = dense_run(data, {.on_error = skip_all(), .serial = true});
    for (int taken = 0; taken < first; ++taken) run.next();
    const auto place = saved(run);
    *bad = -1;
    auto again = dense_run(data, {.resume_from = place});
    for (int taken = 0; taken < 20; ++taken) {
      again.next();
      EXPECT_NO_THROW(read(data, {.resume_from = saved(again)})) << "behind " << first << " and " << taken;
    }
  }
}

TEST(SavePoint, OfWhatFailsNoMoreCanBeResumedAgain) {
  const Flag bad = flag(-1);
  const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
  const auto few_of = [](std::int64_t i) { return range(10 * i, 10 * i + 3); };
  ::testing::internal::CaptureStderr();
  expect_can_be_resumed_twice(zip(range(40).map(failing_when(bad)), counted(40)).map(sum), bad);
  expect_can_be_resumed_twice(counted(8).map(failing_when(bad)).interleave(few_of, {.cycle_length = 2}).repeat(2), bad);
  ::testing::internal::GetCapturedStderr();
}

// ------------------------------------------------------------------------------------------------ what is gone

TEST(SavePoint, OfANestWhoseOpenDatasetHasShrunkIsRefused) {
  const Flag length = flag(50);
  const auto opened = [length](std::int64_t) { return counted(*length); };
  const auto data = range(4).interleave(opened, {.cycle_length = 2});
  const auto place = saved_behind(data, 60);
  *length = 10;
  auto run = dense_run(data, {.on_error = skip_all(), .resume_from = place});
  EXPECT_ERROR(while (run.next()){}, ErrorCode::data_loss, "ends this time before its place");
}

TEST(SavePoint, OfANestOfFewerInputsIsRefused) {
  const auto of = [](std::int64_t inputs) {
    return counted(inputs).map(plus_one).interleave([](std::int64_t) { return range(3); }, {.cycle_length = 2});
  };
  const auto place = saved_behind(of(20), 50);
  for (const std::int64_t fewer : {1, 5, 15}) {
    auto run = dense_run(of(fewer), {.resume_from = place});
    EXPECT_ERROR(while (run.next()){}, ErrorCode::data_loss, "this time");
  }
}

TEST(SavePoint, OfAShuffleOfFewerInputsIsRefused) {
  const auto of = [](std::int64_t inputs) { return counted(inputs).shuffle(8, {.seed = 3}); };
  const auto place = saved_behind(of(40), 20);
  for (std::int64_t fewer = 0; fewer < 20; ++fewer) {
    auto run = dense_run(of(fewer), {.serial = true, .resume_from = place});
    EXPECT_ERROR(while (run.next()){}, ErrorCode::data_loss, "this time");
  }
}

// An input that is cut has not ended by itself, whether its source knows of that or had ended before.
TEST(SavePoint, OfAPassThatIsCutWhileItGoesOnIsNoLoss) {
  const auto rows = [](std::int64_t a, std::int64_t b) { return a + b; };
  const auto shuffled = counted(60).shuffle(16, {.seed = 3});
  expect_resumes_anywhere(zip(counted(9), shuffled).map(rows).repeat(2));
  expect_resumes_anywhere(zip(shuffled, counted(9)).map(rows).repeat(2));
  const auto short_one = range(12).map(plus_one).shuffle(5, {.seed = 3});
  expect_resumes_anywhere(zip(counted(9), short_one).map(rows).repeat(2));
}

// In arbitrary order they say nothing, though a damaged checkpoint may have one: the epoch, of which nothing was
// delivered, begins anew.
TEST(SavePoint, IsOfNoUseInArbitraryOrder) {
  const auto of = [](Order order) {
    return counted(12).interleave([](std::int64_t i) { return range(10 * i, 10 * i + 3); },
                                  {.cycle_length = 3, .order = order});
  };
  auto place = std::make_shared<Checkpoint>(*saved_behind(of(Order::kept), 9));
  place->delivered = place->since_save_point = 0;
  place->has_last = false;
  place->last = {};
  place->pipeline = of(Order::arbitrary).start().checkpoint().pipeline;
  EXPECT_EQ(read(of(Order::arbitrary), {.resume_from = place}).size(), 36u);
}

// Else a job that is always stopped before the first save point behind its place would have ever more to make again.
TEST(SavePoint, ThatComesWhileSlotsAreLeftOutIsResumedAtLater) {
  const auto data = range(100).filter([](std::int64_t x) { return x % 3 != 0; }).shuffle(5, {.seed = 1});
  auto uninterrupted = data.start();
  const Texts whole = rest_of(uninterrupted);
  Checkpoint place = *saved_behind(data, 40);
  place.save_point.clear();
  place.since_save_point = 0;
  auto run = dense_run(data, {.serial = true, .resume_from = std::make_shared<Checkpoint>(place)});
  run.next();
  const auto again = saved(run);
  EXPECT_FALSE(again->save_point.empty());
  EXPECT_LT(again->since_save_point, 10);
  auto resumed = data.start({.resume_from = again});
  EXPECT_EQ(rest_of(resumed), Texts(whole.begin() + 41, whole.end()));
}

}  // namespace
}  // namespace penstock
