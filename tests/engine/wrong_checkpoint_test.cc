// Well-formed checkpoints that the pipeline has no place for: a clear error or a defined result, never a wait without
// end.
#include <atomic>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using namespace testing;

using Saved = std::shared_ptr<const Checkpoint>;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::uint32_t kLastEpoch = std::numeric_limits<std::uint32_t>::max();

// What a run says behind its second element, changed.
template <class T> Saved wrong(const Dataset<T>& data, const std::function<void(Checkpoint&)>& change) {
  auto run = data.start({.serial = true});
  run.next();
  run.next();
  Checkpoint checkpoint = run.checkpoint();
  change(checkpoint);
  return std::make_shared<Checkpoint>(Checkpoint::from_bytes(checkpoint.to_bytes()));
}

auto at_ordinal(std::int64_t ordinal) {
  return [ordinal](Checkpoint& checkpoint) { checkpoint.last.ordinal = ordinal; };
}
auto in_pass(std::uint32_t pass) {
  return [pass](Checkpoint& checkpoint) { checkpoint.last.pass = pass; };
}
auto in_epoch(std::uint32_t epoch) {
  return [epoch](Checkpoint& checkpoint) { checkpoint.epoch = epoch; };
}

// A generator of which the last of so many copies cannot be made.
struct GoneLater {
  std::shared_ptr<std::atomic<int>> copies;  // 0: all can
  std::int64_t next = 0;
  explicit GoneLater(std::shared_ptr<std::atomic<int>> copies_left) : copies(std::move(copies_left)) {}
  GoneLater(GoneLater&&) = default;
  GoneLater(const GoneLater& other) : copies(other.copies), next(other.next) {
    if (*copies > 0 && --*copies == 0) throw std::runtime_error("the server is gone");
  }
  std::optional<std::int64_t> operator()() { return next < 5 ? std::optional(next++) : std::nullopt; }
};

// A pass that cannot begin has delivered nothing before.
TEST(WrongCheckpoint, WhosePassCannotBeginTellsWhy) {
  for (const int failing : {1, 2, 3}) {
    const auto copies = std::make_shared<std::atomic<int>>(0);
    const auto data = from_generator(GoneLater(copies)).batch(1);
    const Saved saved = wrong(data, [](Checkpoint&) {});
    *copies = failing;
    auto run = data.start({.serial = true, .resume_from = saved});
    std::string said;
    try {
      while (run.next()) {
      }
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_TRUE(*copies > 0 || said.find("the server is gone") != std::string::npos)
        << "copy " << failing << ": " << said;
  }
}

// The first request of the resumed run fails, the epoch has ended then, and other epochs are as ever.
template <class T>
void expect_lost(const Dataset<T>& data, const std::function<void(Checkpoint&)>& change, const std::string& text) {
  const Saved saved = wrong(data, change);
  auto unbroken = data.start({.first_epoch = 3});
  const std::string third = next_text(unbroken);
  for (const bool serial : {true, false}) {
    auto run = data.start({.on_error = skip_all(), .serial = serial, .resume_from = saved});
    EXPECT_ERROR(run.next(), ErrorCode::data_loss, text);
    EXPECT_EQ(run.next(), std::nullopt);
    run.epoch(3);
    EXPECT_EQ(next_text(run), third);
  }
}

std::vector<std::int64_t> twice(std::int64_t value) { return std::vector<std::int64_t>(2, value); }

Dataset<std::int64_t> generated(std::int64_t count) {
  return from_generator(
      [i = std::int64_t{0}, count]() mutable { return i < count ? std::optional(i++) : std::nullopt; });
}

TEST(WrongCheckpoint, BeyondAnIndexableSourcesEndIsRefusedAtOnce) {
  const auto data = range(5).map(plus_one);
  for (const std::int64_t ordinal : {std::int64_t{5}, kHuge, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_ERROR(data.start({.resume_from = wrong(data, at_ordinal(ordinal))}), ErrorCode::data_loss,
                 "has only 5 elements");
  }
}

template <class T> Saved after_one(const Dataset<T>& data) {
  auto run = data.start();
  run.next();
  return std::make_shared<Checkpoint>(run.checkpoint());
}

TEST(WrongCheckpoint, OfOtherElementsThatAreAsManyIsRefused) {
  const auto names = [](const char* third) { return from_vector(std::vector<std::string>{"a", "b", third}); };
  const auto numbers = [](double third) { return from_vector(std::vector{1.0, 2.0, third}); };
  EXPECT_ERROR(names("x").start({.resume_from = after_one(names("c"))}), ErrorCode::failed_precondition,
               "The list has other elements now, or in another order");
  EXPECT_ERROR(numbers(4).start({.resume_from = after_one(numbers(3))}), ErrorCode::failed_precondition,
               "The list has other elements now, or in another order");
  EXPECT_EQ(read(names("c"), {.resume_from = after_one(names("c"))}), Texts({"b", "c"}));
}

TEST(WrongCheckpoint, OfAFileListThatHasChangedIsRefused) {
  const test::TemporaryFolder folder;
  const std::string list = (folder.path() / "list.txt").string();
  std::ofstream(list) << "a.jpg\nb.jpg\n";
  const auto saved = after_one(from_file_list(list));
  EXPECT_EQ(read(from_file_list(list), {.resume_from = saved}).size(), 1u);
  std::ofstream(list) << "b.jpg\na.jpg\n";
  EXPECT_ERROR(from_file_list(list).start({.resume_from = saved}), ErrorCode::failed_precondition,
               "The list has other elements now, or in another order");
}

// Names count as they are in the list: the folder may be another one on another machine.
TEST(WrongCheckpoint, TellsListsApartByNamesThatAreRelativeToThem) {
  const std::vector<std::string> here{"/here/a", "/here/b"}, there{"/there/a", "/there/b"};
  EXPECT_EQ(detail::digest_of(here, "/here/"), detail::digest_of(there, "/there/"));
  EXPECT_NE(detail::digest_of(here), detail::digest_of(there));
  EXPECT_NE(detail::digest_of(std::vector<std::string>{"ab", ""}),
            detail::digest_of(std::vector<std::string>{"a", "b"}));
}

TEST(WrongCheckpoint, AtAnElementOfAnotherRankIsReported) {
  expect_lost(range(9).shard(3, 1).map(plus_one), at_ordinal(3), "element 3 of pass 0");
  expect_lost(range(9).shard(3, 1).batch(1), at_ordinal(3), "element 3 of pass 0");
  expect_lost(range(9).shard(3, 1).map(plus_one).repeat(), at_ordinal(3), "element 3 of pass 0");
  expect_lost(range(9).shard(3, 1).batch(1).repeat(), at_ordinal(3), "element 3 of pass 0");
  expect_lost(range(9).shard(3, 1).repeat(1'000'000'000).batch(1), at_ordinal(3), "element 3 of pass 0");
}

TEST(WrongCheckpoint, BehindAGeneratorsEndIsReported) {
  expect_lost(generated(5), at_ordinal(5), "element 5 of pass 0");
  expect_lost(generated(5).batch(1).repeat(2), at_ordinal(kHuge), "element");
}

TEST(WrongCheckpoint, AtAPartThatAnElementDoesNotGiveIsReported) {
  const auto change = [](Checkpoint& checkpoint) { checkpoint.last.sub = 77; };
  expect_lost(range(4).map(twice).unbatch(), change, "element 0 of pass 0");
  expect_lost(range(4).map(twice).unbatch().batch(1).repeat(), change, "element 0 of pass 0");
}

TEST(WrongCheckpoint, InAPassThatThereIsNotIsRefusedAtOnce) {
  const auto refused = [](const auto& data, std::uint32_t pass) {
    EXPECT_ERROR(data.start({.resume_from = wrong(data, in_pass(pass))}), ErrorCode::data_loss,
                 "pass " + std::to_string(pass));
  };
  refused(range(3).map(plus_one), 1);
  refused(range(3).map(plus_one).repeat(2), 2);
  refused(range(3).batch(2).repeat(3).repeat(1'000'000'000).repeat(1'000'000'000), 4'000'000'000u);
}

TEST(Checkpoint, InLaterPassesOfNestedRepeatsGoesOnThere) {
  const auto data = range(2).map(plus_one).repeat(3).repeat(4).repeat(2);
  auto run = data.start();
  for (int taken = 0; taken < 48; ++taken) {
    auto again = data.start({.resume_from = std::make_shared<Checkpoint>(run.checkpoint())});
    ASSERT_EQ(rest_of(again).size(), 48u - static_cast<std::size_t>(taken));
    run.next();
  }
}

TEST(WrongCheckpoint, InAnyPassOfAnEndlessRepeatGoesOnThere) {
  const auto data = range(3).map(plus_one).repeat();
  for (const std::uint32_t pass : {1u, 1'000'000'000u, 4'294'967'295u}) {
    auto run = data.start({.resume_from = wrong(data, in_pass(pass))});
    for (const char* expected : {"3", "1", "2"}) EXPECT_EQ(next_text(run), expected) << pass;
  }
}

TEST(WrongCheckpoint, OfAReplayThatIsLongerThanTheEpochIsReported) {
  const auto more = [](Checkpoint& checkpoint) {
    checkpoint.delivered = 10;
    checkpoint.save_point.clear();
    checkpoint.since_save_point = 0;
  };
  expect_lost(range(9).map(plus_one).shuffle(4, {.seed = 3}), more, "only 9 were there");
  const auto more_since = [](Checkpoint& checkpoint) { checkpoint.delivered = checkpoint.since_save_point = 10; };
  expect_lost(range(9).map(plus_one).shuffle(4, {.seed = 3}), more_since, "only 9 were there");
}

TEST(WrongCheckpoint, OfTheLastEpochThereIsCountsOnFromZero) {
  for (const auto& data : {range(5).map(plus_one), range(5).map(plus_one).take(9)}) {
    auto run = data.start({.epochs = 7, .resume_from = wrong(data, in_epoch(kLastEpoch))});
    EXPECT_EQ(rest_of(run), numbers(3, 6));
    EXPECT_EQ(run.checkpoint().epoch, kLastEpoch);
    run.epoch(0);
    EXPECT_EQ(rest_of(run), numbers(1, 6));
  }
}

TEST(WrongCheckpoint, AtTheEndOfTheLastEpochThereIsCountsOnFromZero) {
  const auto data = range(5).map(plus_one);
  const auto ended = [](Checkpoint& checkpoint) {
    checkpoint.epoch = kLastEpoch;
    checkpoint.epoch_ended = true;
  };
  auto run = data.start({.epochs = 7, .resume_from = wrong(data, ended)});
  run.knobs();
  EXPECT_EQ(run.next(), std::nullopt);
  run.epoch(0);
  EXPECT_EQ(rest_of(run), numbers(1, 6));
}

// As many errors are left out as follow at once, and no later ones.
TEST(WrongCheckpoint, WithTooManyErrorsLeavesOutThoseThatThereAre) {
  const auto data = range(6).map(failing_at(2)).map(failing_at(4));
  const auto change = [](Checkpoint& checkpoint) {
    checkpoint.delivered = kHuge;
    checkpoint.errors_since = kHuge - 1;
  };
  auto run = data.start({.resume_from = wrong(data, change)});
  for (const char* expected : {"3", "x4", "5", "end"}) EXPECT_EQ(next_text(run), expected);
}

TEST(WrongCheckpoint, OfAnotherKindIsRefused) {
  const auto data = range(9).map(plus_one);
  const auto change = [](Checkpoint& checkpoint) { checkpoint.kind = Checkpoint::Kind::replay; };
  EXPECT_ERROR(data.start({.resume_from = wrong(data, change)}), ErrorCode::failed_precondition, "by position");
}

// Found by fuzzing: the search for the first line that differs went on for ever.
TEST(WrongCheckpoint, OfAPipelineThatDiffersInTheLastLinesEndIsRefused) {
  const auto data = range(5).map(plus_one);
  const auto cut = [](Checkpoint& checkpoint) { checkpoint.pipeline.pop_back(); };
  EXPECT_ERROR(data.start({.resume_from = wrong(data, cut)}), ErrorCode::failed_precondition, "one ends behind '");
}

TEST(WrongCheckpoint, OfAPipelineWithMoreOrFewerOpsIsRefusedWithTheFirstThatIsNotThere) {
  const auto shorter = range(5).map(plus_one), longer = range(5).map(plus_one).batch(2).unbatch();
  const auto same = [](Checkpoint&) {};
  EXPECT_ERROR(shorter.start({.resume_from = wrong(longer, same)}), ErrorCode::failed_precondition, "'2 batch");
  EXPECT_ERROR(longer.start({.resume_from = wrong(shorter, same)}), ErrorCode::failed_precondition,
               "nothing there, '2 batch");
}

TEST(WrongCheckpoint, ThatContradictsItselfIsRefused) {
  auto run = range(5).start();
  auto saved = std::make_shared<Checkpoint>(run.checkpoint());
  saved->delivered = -1;
  EXPECT_ERROR(range(5).start({.resume_from = saved}), ErrorCode::invalid_argument, "delivered is -1");
  saved->delivered = std::numeric_limits<std::int64_t>::max();
  saved->has_last = true;
  EXPECT_ERROR(range(5).start({.resume_from = saved}), ErrorCode::invalid_argument, "more than any run delivers");
}

// An endless source may yet come to the element; the run can be given up, or told to do something else, at any time.
TEST(WrongCheckpoint, FarBehindInAnEndlessGeneratorCanBeGivenUp) {
  const auto data = from_generator([i = std::int64_t{0}]() mutable { return std::optional(i++); });
  for (const bool serial : {true, false}) {
    auto run = data.start({.serial = serial, .resume_from = wrong(data, at_ordinal(kHuge))});
    EXPECT_TRUE(run.next_for(10ms).timed_out());
    run.epoch(2);
    EXPECT_EQ(run.next(), 0);
    auto abandoned = data.start({.serial = serial, .resume_from = wrong(data, at_ordinal(kHuge))});
    EXPECT_TRUE(abandoned.next_for(10ms).timed_out());
  }
}

// The element was delivered, so what happens to it this time does not matter.
TEST(Checkpoint, GoesOnBehindAnElementThatFailsThisTime) {
  const auto fails = std::make_shared<std::atomic<bool>>(false);
  const auto sometimes = [fails](std::int64_t value) {
    if (*fails && value == 1) throw std::runtime_error("planted");
    return value;
  };
  for (const auto& data : {range(4).map(sometimes), range(4).map(sometimes).ignore_errors()}) {
    *fails = false;
    const Saved saved = wrong(data, [](Checkpoint&) {});
    *fails = true;
    auto run = data.start({.resume_from = saved});
    EXPECT_EQ(rest_of(run), numbers(2, 4));
  }
}

// What it gave was delivered in part. The rest is lost now, which is told.
TEST(Checkpoint, GoesOnBehindAnElementWhosePartsFailThisTime) {
  const auto fails = std::make_shared<std::atomic<bool>>(false);
  const auto sometimes = [fails](std::int64_t value) {
    if (*fails && value == 0) throw std::runtime_error("planted");
    return twice(value);
  };
  const auto parts = range(3).map(sometimes).unbatch();
  const auto check = [fails](const auto& data, const Texts& rest) {
    *fails = false;
    const Saved saved = wrong(data, [](Checkpoint&) {});
    *fails = true;
    auto run = data.start({.resume_from = saved});
    EXPECT_EQ(rest_of(run), rest);
  };
  check(parts, {"x0", "1", "1", "2", "2"});
  check(parts.batch(1), {"x0", "[1]", "[1]", "[2]", "[2]"});
}

}  // namespace
}  // namespace penstock
