// Pipelines with several inputs: what holds for all merging ops. What each one means is in merging_test.cc.
#include "lib/exec/stage_plan.h"
#include "tests/engine/support.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <set>

namespace penstock {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::int64_t sum(const std::tuple<std::int64_t, std::int64_t>& pair) { return std::get<0>(pair) + std::get<1>(pair); }

std::int64_t draw(std::int64_t, Context& context) {
  return context.rng().uniform(std::int64_t{0}, std::int64_t{1} << 40);
}

template <class T> std::vector<T> values_of(const Dataset<T>& dataset) {
  std::vector<T> values;
  for (const T& value : dataset) values.push_back(value);
  return values;
}

TEST(Tree, RunsADatasetThatIsUsedTwiceTwice) {
  CallCounter counter;
  const auto mapped = branch(10).map(counted_sleep(counter, 0us));
  EXPECT_EQ(read(zip(mapped, mapped).map(sum)).size(), 10u);
  EXPECT_EQ(counter.calls(), 20);
}

TEST(Tree, GivesTwoUsesOfAShuffleOneOrder) {
  const auto shuffled = branch(100).shuffle(100, {.seed = 3});
  for (const auto& [a, b] : values_of(zip(shuffled, shuffled).repeat(2))) EXPECT_EQ(a, b);
}

// A run of such a merge looks only at the inputs that have changed.
TEST(Tree, OfHundredsOfInputsGivesWhatItGivesSerially) {
  std::vector<Dataset<std::int64_t>> inputs;
  for (std::int64_t i = 0; i < 300; ++i)
    inputs.push_back(branch(i % 7).map([i](std::int64_t x) { return 10 * i + x; }));
  const auto sampled = sample_from(inputs, {.seed = 5}).repeat(3);
  const auto joined = concatenate(inputs).repeat(2);
  EXPECT_EQ(read(sampled, {.threads = 2}), read(sampled, {.serial = true}));
  Texts all;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t x = 0; x < i % 7; ++x) all.push_back(std::to_string(10 * i + x));
  }
  EXPECT_EQ(read(joined, {.threads = 2}), all);
}

TEST(Tree, DrawsOtherRandomNumbersForEachInput) {
  const auto drawn = branch(50).map(draw);
  for (const auto& [a, b] : values_of(zip(drawn, drawn))) EXPECT_NE(a, b);
}

TEST(Tree, DrawsOtherRandomNumbersForEachInputAlsoBehindIt) {
  const auto numbers = branch(50);
  const auto all = values_of(concatenate(std::vector{numbers, numbers.concatenate(numbers), numbers}).map(draw));
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 200u);
}

// Neither its number nor that of the input alone tells a merge's input from all others.
TEST(Tree, DrawsOtherRandomNumbersForEachInputOfMergesOneBehindTheOther) {
  const auto one = range(1).map([](std::int64_t value) { return value; });
  const auto merged = concatenate(std::vector{one, one, one, one}).concatenate(one).concatenate(one).concatenate(one);
  const auto inside = range(1).flat_map([merged](std::int64_t) { return merged; });
  for (const auto& data : {merged.map(draw), inside.map(draw)}) {
    const auto all = values_of(data);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 7u);
  }
}

TEST(Tree, LeavesTheRandomNumbersOfItsFirstInputAsTheyAre) {
  const auto first = branch(5).map(draw);
  const auto alone = values_of(first);
  auto both = values_of(first.concatenate(branch(3)));
  both.resize(5);
  EXPECT_EQ(both, alone);
}

TEST(Tree, RepeatsAllItsInputs) {
  const auto pairs = zip(branch(3).repeat(), branch(10, 14)).map(sum);
  EXPECT_EQ(read(pairs.repeat(2)), (Texts{"10", "12", "14", "13", "10", "12", "14", "13"}));
}

TEST(Tree, IsReadEpochByEpoch) {
  const auto tree = branch(3).concatenate(branch(5, 7)).repeat(2);
  auto run = tree.start();
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    run.epoch(epoch);
    EXPECT_EQ(next_text(run), "0");
    if (epoch % 2 != 0) continue;  // left early
    EXPECT_EQ(rest_of(run), (Texts{"1", "2", "5", "6", "0", "1", "2", "5", "6"}));
  }
}

TEST(Tree, NamesWhereItFailed) {
  const auto broken = range(3).map(failing_at(1));
  auto run = zip(range(9).skip(4), broken).start();
  ASSERT_TRUE(run.next());
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().op, "map");
    EXPECT_EQ(error.place().position, 3) << "range 0, skip 1, range 2";
    EXPECT_EQ(error.place().source_ordinal, 1);
  }
  EXPECT_TRUE(run.next());
}

// Two lists, a.txt and b.txt, of two files each.
struct TwoLists {
  TwoLists() {
    for (const char* list : {"a", "b"}) {
      std::ofstream out(folder.path() / (std::string(list) + ".txt"));
      for (int i = 0; i < 2; ++i) out << "/nowhere/" << list << i << "\n";
    }
  }
  Dataset<std::string> list(const char* name) const { return from_file_list((folder.path() / name).string()); }

  test::TemporaryFolder folder;
};

template <class T> std::string origin_of_first_error(const Dataset<T>& dataset) {
  auto run = dataset.start();
  try {
    while (run.next()) {
    }
  } catch (const ElementError& error) {
    return error.place().origin;
  }
  return "no error";
}

TEST(Tree, NamesTheFileThatAnElementCameFrom) {
  const TwoLists of;
  const auto fail = [](const auto&) -> int { throw std::runtime_error("planted"); };
  EXPECT_EQ(origin_of_first_error(zip(branch(2), of.list("b.txt").map(fail))), "/nowhere/b0");
  EXPECT_EQ(origin_of_first_error(zip(of.list("a.txt"), of.list("b.txt")).map(fail)), "/nowhere/a0");
  EXPECT_EQ(origin_of_first_error(zip(of.list("a.txt").prefetch(), of.list("b.txt")).map(fail)), "/nowhere/a0");
}

// What of two lists cannot be read, behind whatever puts them together: "source_position origin" of each error.
Texts failures_of(const Dataset<std::string>& mixed) {
  const auto data = mixed.map([](const std::string&) -> int { throw std::runtime_error("planted"); });
  Texts places;
  auto run = data.start();
  for (bool more = true; more;) {
    try {
      more = run.next().has_value();
    } catch (const ElementError& error) {
      places.push_back(std::to_string(error.place().source_position) + " " + error.place().origin);
    }
  }
  return places;
}

TEST(Tree, NamesSourceAndFileBehindAMergeOfSeveralLists) {
  const TwoLists of;
  const auto a = of.list("a.txt").prefetch(), b = of.list("b.txt").prefetch();
  const Texts all = {"0 /nowhere/a0", "0 /nowhere/a1", "2 /nowhere/b0", "2 /nowhere/b1"};  // a's prefetch is op 1
  EXPECT_EQ(failures_of(a.concatenate(b)), all);
  EXPECT_THAT(failures_of(a.concatenate(b).shuffle(4, {.seed = 7})), UnorderedElementsAreArray(all));
  EXPECT_THAT(failures_of(sample_from(std::vector{a, b}, {.seed = 7})), UnorderedElementsAreArray(all));
}

TEST(Tree, NamesNoSourceOfWhatIsNoElements) {
  const auto broken = from_generator(
      [](Pass) -> std::function<std::optional<std::int64_t>()> { throw std::runtime_error("cannot begin"); });
  auto run = branch(2).concatenate(broken).start();
  for (int i = 0; i < 2; ++i) run.next();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().op, "from_generator");
    EXPECT_EQ(error.place().source_position, -1);
  }
}

// Nobody has so many; but a stamp has room for no more.
TEST(Tree, NamesNoSourceBeyondWhatAStampCanTellApart) {
  exec::Plan plan;
  for (int i = 0; i < 70'000; ++i) EXPECT_EQ(plan.add_source({.position = i}), std::min(i, 0xFFFF));
  EXPECT_EQ(plan.item(0xFFFE, 0).position, 0xFFFE);
  EXPECT_EQ(plan.item(0xFFFF, 0).position, -1);
}

// Positions put together are one source.
TEST(Tree, NamesFilesOfListsThatArePutTogetherAsPositions) {
  const TwoLists of;
  EXPECT_EQ(failures_of(of.list("a.txt").concatenate(of.list("b.txt"))),
            (Texts{"-1 /nowhere/a0", "-1 /nowhere/a1", "-1 /nowhere/b0", "-1 /nowhere/b1"}));
}

TEST(Tree, IsPrintedWithItsInputs) {
  const auto tree = zip(range(3).repeat(2), range(5).concatenate(range(9))).repeat(2);
  const std::string text = describe(tree);
  EXPECT_THAT(text, HasSubstr("1  repeat"));
  EXPECT_THAT(text, HasSubstr("2    range"));
  EXPECT_THAT(text, HasSubstr("3      range"));
  EXPECT_THAT(text, HasSubstr("4    concatenate  of 2, 3"));
  EXPECT_THAT(text, HasSubstr("5  zip            of 1, 4"));
}

TEST(Tree, IsResumedAtEachElement) {
  const auto tree =
      zip(branch(4).concatenate(branch(7)).map(failing_at(2)), branch(20).shuffle(3, {.seed = 1})).map(sum).repeat(2);
  const Texts whole = read(tree);
  for (std::size_t taken = 0; taken < whole.size(); ++taken) {
    auto run = tree.start();
    for (std::size_t i = 0; i < taken; ++i) next_text(run);
    auto resumed = tree.start({.resume_from = std::make_shared<const Checkpoint>(run.checkpoint())});
    EXPECT_EQ(rest_of(resumed), Texts(whole.begin() + static_cast<std::ptrdiff_t>(taken), whole.end())) << taken;
  }
}

// A source that gives three elements and then waits until nobody wants more.
auto three_and_then_nothing(std::atomic<bool>& was_stopped) {
  return from_generator(
      [&was_stopped, next = std::int64_t{0}](Context& context) mutable -> std::optional<std::int64_t> {
        if (next < 3) return next++;
        while (!context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
        was_stopped = true;
        return std::nullopt;
      });
}

TEST(Tree, EndsThoughAnInputThatIsNotWantedNeverEnds) {
  std::atomic<bool> was_stopped{false};
  EXPECT_EQ(read(zip(branch(3), three_and_then_nothing(was_stopped)).map(sum)).size(), 3u);
}

TEST(Tree, StopsAnInputThatIsNotWantedAnyMore) {
  std::atomic<bool> was_stopped{false};
  auto run = zip(branch(3), three_and_then_nothing(was_stopped)).start();
  while (run.next()) {
  }
  EXPECT_TRUE(eventually([&] { return was_stopped.load(); }));
}

TEST(Tree, GoesOnIntoItsNextPassThoughAnInputIsStillInTheLastOne) {
  std::atomic<bool> was_stopped{false};
  const auto two = branch(2);
  EXPECT_EQ(read(zip(two, three_and_then_nothing(was_stopped)).map(sum).repeat(3)).size(), 6u);
}

// It is read ahead, though nothing of it is ever wanted, and does not look whether it is.
TEST(Tree, DoesNotWaitForAnInputThatIsInACall) {
  std::atomic<bool> may_end{false};
  const auto stuck = from_generator([&may_end]() -> std::optional<std::int64_t> {
    while (!may_end) std::this_thread::sleep_for(1ms);
    return std::nullopt;
  });
  auto run = choose_from(std::vector{branch(2), stuck}, from_vector(std::vector<std::int64_t>{0, 0})).repeat(3).start();
  for (int i = 0; i < 6 && !HasFailure(); ++i) EXPECT_FALSE(run.next_for(kPatience).timed_out());
  may_end = true;
  EXPECT_FALSE(run.next());
}

// In pass i the choices of list i.
Dataset<std::int64_t> by_pass(std::vector<std::vector<std::int64_t>> lists) {
  return from_generator([lists = std::move(lists)](Pass pass) {
    return [list = lists.at(pass.pass), next = std::size_t{0}]() mutable {
      return next < list.size() ? std::optional(list[next++]) : std::nullopt;
    };
  });
}

// Its first pass is over at the source, and on its way; the second one is endless, and the merge is past that, too.
TEST(Tree, EndsEachPassThatAnInputIsBehind) {
  std::atomic<bool> is_in_second{false}, may_arrive{false};
  const auto late = from_generator([&is_in_second](Pass pass) {
    return [&is_in_second, pass, given = false](Context& context) mutable -> std::optional<std::int64_t> {
      if (pass.pass != 1)
        return std::exchange(given, true) ? std::nullopt : std::optional(std::int64_t{70} + pass.pass);
      is_in_second = true;
      while (!context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
      return std::nullopt;
    };
  });
  const auto held_until = [](const Dataset<std::int64_t>& data, const std::atomic<bool>& flag) {
    const auto hold = [&flag](std::int64_t value) {
      EXPECT_TRUE(eventually([&] { return flag.load(); }));
      return value;
    };
    return data.map(hold, 1, {.blocks = true});
  };
  const auto choices = held_until(by_pass({{0}, {0}, {0, 1}}), is_in_second);
  auto run = choose_from(std::vector{branch(1), held_until(late, may_arrive)}, choices).repeat(3).start();
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(run.next_for(kPatience).value, 0);
  may_arrive = true;
  EXPECT_EQ(run.next_for(kPatience).value, 72);
}

TEST(Tree, ReadsItsInputsAtOnce) {
  CallCounter counter;
  const auto slow = [&] { return branch(8).map(counted_sleep(counter, 20ms), 1, {.blocks = true}); };
  read(zip(slow(), slow()).map(sum));
  EXPECT_EQ(counter.most(), 2);
}

TEST(Tree, KeepsTheBuffersThatAnInputAsksFor) {
  std::atomic<std::int64_t> made{0};
  const auto counted = branch(1000).map(
      [&made](std::int64_t x) {
        ++made;
        return x;
      },
      1);
  auto run = zip(counted.prefetch(1), branch(1000)).prefetch(1).map(sum, 1).prefetch(1).start({.tune = false});
  run.next();
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(made, 40);
}

TEST(Tree, TellsWhoFeedsWhom) {
  auto run = zip(branch(3), branch(4).concatenate(branch(2))).start();
  run.next();
  std::vector<int> feeds;
  for (const StageSnapshot& stage : run.snapshot().stages) feeds.push_back(stage.feeds);
  EXPECT_EQ(feeds, (std::vector<int>{4, 3, 3, 4, -1}));
}

TEST(Tree, HasNoMoreOpsThanCanBeRun) {
  auto doubled = range(1);
  EXPECT_ERROR(for (int i = 0; i < 20; ++i) doubled = doubled.concatenate(doubled), ErrorCode::invalid_argument,
               "a dataset that is used twice counts twice");
}

TEST(Tree, RefusesADatasetThatWasMovedFrom) {
  auto gone = range(1);
  const auto kept = std::move(gone);
  EXPECT_ERROR(kept.concatenate(gone), ErrorCode::invalid_argument, "moved from");
}

TEST(Tree, IsNotSharedAmongRanksBehindAShuffleWithoutASeedInAnyInput) {
  const auto tree = range(9).concatenate(range(9).shuffle(4));
  EXPECT_ERROR(tree.shard(2, 0), ErrorCode::invalid_argument, "shuffle (op 2) has no seed");
}

// Elements of 1,000 bytes in all branches: the budget and one element a stage more is all that there is.
TEST(Tree, KeepsToItsMemory) {
  const auto strings = [](std::int64_t from) {
    return branch(from, from + 300).map([](std::int64_t) { return std::string(1000, 'x'); });
  };
  const auto tree = zip(strings(0), strings(9).concatenate(strings(5)));
  auto run = tree.start({.memory_bytes = 20'000, .tune = false});
  while (run.next()) {
  }
  EXPECT_LE(run.snapshot().memory_peak, 20'000 + 8 * 1'200);
}

TEST(Tree, GivesEachUseOfADatasetInNestedMergesRandomNumbersOfItsOwn) {
  const auto numbers = branch(3);
  const auto drawn = numbers.concatenate(numbers).concatenate(numbers).concatenate(numbers).map(
      [](std::int64_t, Context& context) { return context.rng().uniform(std::int64_t{0}, std::int64_t{1} << 40); });
  Texts texts = read(drawn);
  std::ranges::sort(texts);
  EXPECT_EQ(texts.size(), 12u);
  EXPECT_EQ(std::ranges::adjacent_find(texts), texts.end()) << "two are alike";
}

// A consumer may collect what elements hold before it goes on.
TEST(Tree, LetsGoOfWhatIsLeftOfAPassWhenThatEnds) {
  std::atomic<int> alive{0};
  const auto counted = [&alive](std::int64_t) {
    ++alive;
    return std::shared_ptr<int>(new int(0), [&alive](int* number) {
      delete number;
      --alive;
    });
  };
  for (const bool shortest_ends : {true, false}) {
    const auto many = branch(5000).map(counted, 2);
    const auto pairs = shortest_ends ? zip(many, branch(3)) : zip(many, branch(100)).take(3);
    auto run = pairs.start();
    while (run.next()) {
    }
    EXPECT_TRUE(eventually([&] { return alive == 0; })) << alive;
  }
}

}  // namespace
}  // namespace penstock
