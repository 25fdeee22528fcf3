// concatenate, zip, enumerate, sample_from and choose_from of what can be indexed: one stage, which gives what branches
// give.
#include "tests/engine/support.h"
#include "tests/support/temporary_folder.h"

#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

namespace penstock {
namespace {

using namespace testing;
using Numbers = Dataset<std::int64_t>;
using Pair = std::tuple<std::int64_t, std::int64_t>;
using Input = std::function<Numbers(Numbers)>;  // as it is, or as a branch

Numbers as_it_is(Numbers numbers) { return numbers; }
Numbers as_a_branch(Numbers numbers) { return numbers.prefetch(); }

std::int64_t one_number(const Pair& pair) { return 1000 * std::get<0>(pair) + std::get<1>(pair); }

Numbers choices(std::vector<std::int64_t> of) { return from_vector(std::move(of)); }

// Every way to have several inputs, with all that may stand before and behind it.
const std::vector<std::function<Numbers(const Input&)>> kTrees{
    [](const Input& in) { return in(range(5)).concatenate(in(range(7, 20))).concatenate(in(range(0))); },
    [](const Input& in) { return in(range(30).shuffle(30, {.seed = 1})).concatenate(in(range(50, 59).shard(2, 1))); },
    [](const Input& in) { return in(range(30).shuffle(4, {.seed = 1})).concatenate(in(range(40).skip(31).take(5))); },
    [](const Input& in) {
      return in(in(range(3)).concatenate(in(range(5, 9)))).concatenate(in(range(9))).skip(2).take(12).shard(3, 1);
    },
    [](const Input& in) {
      return sample_from(std::vector{in(range(9)), in(range(20, 50)), in(range(60, 60))},
                         {.weights = {1, 3, 1}, .seed = 4});
    },
    [](const Input& in) {
      return sample_from(std::vector{in(range(40).shuffle(40, {.seed = 2})), in(range(50, 90))},
                         {.seed = 4, .rerandomize_each_epoch = true})
          .skip(11);
    },
    [](const Input& in) {
      return sample_from(std::vector{in(range(9)), in(range(20, 60))}, {.weights = {0, 1}, .seed = 4});
    },
    [](const Input& in) {
      return choose_from(std::vector{in(range(3)), in(range(20, 60)), in(range(70, 70))},
                         in(choices({1, 0, 0, 2, 1, 0, 0, 1, 2, 1})));
    },
    [](const Input& in) {
      return choose_from(std::vector{in(range(30).shuffle(30, {.seed = 2})), in(range(2).concatenate(range(50, 59)))},
                         in(choices({1, 1, 0, 1, 0, 1, 1}).concatenate(choices({0, 1, 1, 0}))).skip(1))
          .shard(2, 1);
    },
    [](const Input& in) {
      return choose_from(std::vector{in(range(2)), in(range(5, 7))}, in(choices({0, 0, 0, 0})));
    },
};
const std::vector<std::function<Numbers(const Input&)>> kRows{
    [](const Input& in) { return zip(in(range(5)), in(range(7, 20))).map(one_number); },
    [](const Input& in) { return zip(in(range(40).shard(3, 2)), in(range(7, 40).skip(5).take(9))).map(one_number); },
    [](const Input& in) {
      return zip(in(range(9)), in(range(4)).concatenate(in(range(50, 59)))).skip(2).map(one_number);
    },
    [](const Input& in) { return in(range(9)).concatenate(in(range(20, 24))).enumerate(7).map(one_number); },
    [](const Input& in) { return in(range(30)).enumerate().shard(2, 0).skip(3).map(one_number); },
    [](const Input& in) {
      return zip(in(range(12)).enumerate().map(one_number).prefetch(), in(range(3))).map(one_number);
    },
};

std::vector<std::function<Numbers(const Input&)>> all_trees() {
  auto all = kTrees;
  all.insert(all.end(), kRows.begin(), kRows.end());
  return all;
}

template <class T> std::size_t stages_of(const Dataset<T>& dataset) {
  auto run = dataset.start();
  run.next();
  return run.snapshot().stages.size();
}

TEST(Positions, AreOneStage) {
  for (std::size_t i = 0; i < kTrees.size(); ++i) {
    EXPECT_EQ(stages_of(kTrees[i](as_it_is)), 1u) << i;
    EXPECT_GT(stages_of(kTrees[i](as_a_branch)), 2u) << i;
  }
  EXPECT_EQ(stages_of(zip(range(3), range(5)).enumerate().concatenate(zip(range(3), range(4)).enumerate())), 1u);
}

TEST(Positions, GiveWhatBranchesGive) {
  const auto trees = all_trees();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const Numbers both = trees[i](as_it_is), branches = trees[i](as_a_branch);
    EXPECT_EQ(read(both), read(branches)) << i;
    EXPECT_EQ(read(both, {.first_epoch = 3}), read(branches, {.first_epoch = 3})) << i;
    EXPECT_EQ(read(both.repeat(3)), read(branches.repeat(3))) << i;
    EXPECT_EQ(read(both.shuffle(1000, {.seed = 9}).repeat(2)).size(), read(branches.repeat(2)).size()) << i;
    EXPECT_EQ(both.cardinality(), branches.cardinality()) << i;
  }
}

TEST(Positions, AreResumedAtEachElement) {
  const auto trees = all_trees();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const Numbers tree = trees[i](as_it_is).repeat(2);
    const Texts whole = read(tree);
    for (std::size_t taken = 0; taken < whole.size(); ++taken) {
      auto run = tree.start();
      for (std::size_t k = 0; k < taken; ++k) next_text(run);
      auto resumed = tree.start({.resume_from = std::make_shared<const Checkpoint>(run.checkpoint())});
      ASSERT_EQ(rest_of(resumed), Texts(whole.begin() + static_cast<std::ptrdiff_t>(taken), whole.end()))
          << i << ": " << taken;
    }
  }
}

// A source whose element 2 cannot be made.
class Broken final : public IndexedSource {
 public:
  std::int64_t size() const override { return 4; }
  Element at(std::int64_t index) const override {
    if (index == 2) throw std::runtime_error("planted");
    return Element(index);
  }
  std::string origin(std::int64_t index) const override { return "broken" + std::to_string(index); }
};

// Its elements may take long to make, or fail: errors count otherwise over positions.
TEST(Positions, OfAUsersSourceAreNotPutTogether) {
  const auto broken = from_indexed<std::int64_t>(std::make_shared<Broken>());
  EXPECT_EQ(stages_of(range(4).concatenate(broken)), 3u);
  EXPECT_EQ(stages_of(zip(range(4), broken)), 3u);
  EXPECT_EQ(stages_of(sample_from(std::vector{broken, broken}, {.seed = 1})), 3u);
  EXPECT_EQ(stages_of(broken.enumerate()), 2u);
  EXPECT_EQ(read(broken.concatenate(range(3)).take(3)), (Texts{"0", "1", "x2", "3"}));
  EXPECT_EQ(read(broken.enumerate().map(one_number)), (Texts{"0", "1001", "x2", "3003"}));
}

// As many positions as the number of the pass, and one.
class MoreEachEpoch final : public StreamOp {
 public:
  std::string name() const override { return "more_each_epoch"; }
  Flow flow(const Flow&) const override { return {}; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return nullptr; }
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence>) const override {
    return std::make_unique<Order>();
  }

 private:
  class Order final : public IndexSequence {
   public:
    void begin_pass(std::uint32_t epoch, std::uint32_t) override {
      size_ = epoch + 1;
      next_ = 0;
    }
    std::optional<std::int64_t> next() override { return next_ < size_ ? std::optional(next_++) : std::nullopt; }
    std::int64_t size() const override { return size_; }

   private:
    std::int64_t size_ = 1, next_ = 0;
  };
};

TEST(Positions, BehindAUsersOrderAreNotPutTogether) {
  const auto growing = range(9).then<std::int64_t>(std::make_shared<MoreEachEpoch>());
  EXPECT_EQ(read(growing.concatenate(range(50, 52)), {.first_epoch = 2}), (Texts{"0", "1", "2", "50", "51"}));
}

// A user's order that fails at every fifth position, which counts as one of them.
class FailsAtFifths final : public StreamOp {
 public:
  std::string name() const override { return "fails_at_fifths"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return nullptr; }
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override {
    return std::make_unique<Order>(input->size());
  }

 private:
  class Order final : public IndexSequence {
   public:
    explicit Order(std::int64_t size) : size_(size) {}
    void begin_pass(std::uint32_t, std::uint32_t) override { next_ = 0; }
    std::optional<std::int64_t> next() override { return next_ < size_ ? at(next_++) : std::nullopt; }
    std::optional<std::int64_t> at(std::int64_t i) const override {
      if (i % 5 == 4) throw std::runtime_error("planted");
      return i;
    }
    std::int64_t size() const override { return size_; }

   private:
    std::int64_t size_, next_ = 0;
  };
};

// Of 20: 16 elements.
Dataset<std::int64_t> failing_order() { return range(20).then<std::int64_t>(std::make_shared<FailsAtFifths>()); }

template <class T> std::pair<int, int> elements_and_errors(Run<T> run) {
  std::pair<int, int> counts;
  for (;;) {
    try {
      if (!run.next()) return counts;
      ++counts.first;
    } catch (const ElementError&) {
      ++counts.second;
    }
    run.checkpoint().to_bytes();
  }
}

TEST(Positions, OfAnOrderThatFailsAreAllGivenButThoseThatFailed) {
  EXPECT_EQ(elements_and_errors(failing_order().start()), std::pair(16, 4));
  EXPECT_EQ(elements_and_errors(failing_order().shuffle(20, {.seed = 1}).start()), std::pair(16, 4));
  EXPECT_EQ(elements_and_errors(failing_order().shuffle(3, {.seed = 1}).start()), std::pair(16, 4));
  EXPECT_EQ(elements_and_errors(failing_order().take(9).start()), std::pair(8, 1)) << "one that fails is one of them";
  EXPECT_EQ(elements_and_errors(failing_order().skip(2).take(3).start()), std::pair(2, 1));
}

TEST(Positions, OfAnOrderThatFailsLastHaveACheckpointBehindTheirBatch) {
  EXPECT_EQ(elements_and_errors(failing_order().batch(3).start()), std::pair(6, 4));
}

TEST(Positions, AreShuffledAsOne) {
  const auto both = range(50).concatenate(range(70, 90)).enumerate().map(one_number);
  Texts shuffled = read(range(50).concatenate(range(70, 90)).enumerate().shuffle(70, {.seed = 5}).map(one_number));
  Texts expected = read(both);
  EXPECT_NE(shuffled, expected);
  std::ranges::sort(shuffled);
  std::ranges::sort(expected);
  EXPECT_EQ(shuffled, expected);
}

TEST(Positions, NameTheFileThatAnElementCameFrom) {
  const test::TemporaryFolder folder;
  const auto list = [&folder](const std::string& name) {
    std::ofstream(folder.path() / name) << "/nowhere/" << name << "0\n/nowhere/" << name << "1\n";
    return from_file_list((folder.path() / name).string());
  };
  const auto fail_at = [](const std::string& path) -> std::int64_t {
    if (path == "/nowhere/b1") throw std::runtime_error("planted");
    return 0;
  };
  auto run = list("a").concatenate(list("b")).map(fail_at).start();
  for (int i = 0; i < 3; ++i) run.next();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().origin, "/nowhere/b1");
  }
}

TEST(Positions, AreNoneWhereAPassHasAnOrderOfItsOwn) {
  const auto shuffled = range(9).shuffle(9, {.seed = 1});
  EXPECT_EQ(stages_of(zip(shuffled, range(9))), 3u);
  EXPECT_EQ(stages_of(shuffled.enumerate()), 2u);
  EXPECT_EQ(stages_of(range(9).repeat(2).concatenate(range(9))), 3u);
  EXPECT_EQ(stages_of(counter().concatenate(range(9)).take(5)), 4u) << "too many for numbers";
}

TEST(Positions, AreNoneWhereNobodyKnowsHowManyWillBeChosen) {
  const std::vector inputs{range(9), range(20, 30)};
  const auto some = choices({0, 1, 1});
  EXPECT_EQ(stages_of(choose_from(inputs, some)), 1u);
  EXPECT_EQ(stages_of(choose_from(inputs, some, {.stop_on_empty = true})), 4u);
  EXPECT_EQ(stages_of(choose_from(inputs, some.shuffle(3, {.seed = 1}).take(2))), 4u);
  EXPECT_EQ(stages_of(choose_from(inputs, choices({0, 2, 1}))), 4u) << "an error in its place";
  EXPECT_EQ(stages_of(choose_from(inputs, choices({0, -1, 1}))), 4u);
  EXPECT_EQ(stages_of(choose_from(inputs, range(std::int64_t{1} << 40))), 4u);
}

TEST(Positions, OfAnEndlessInputAreAsManyAsTheOthers) {
  EXPECT_EQ(stages_of(zip(range(3), counter(5))), 1u);
  EXPECT_EQ(read(zip(range(3), counter(5)).map(one_number)), (Texts{"5", "1006", "2007"}));
}

TEST(Positions, AreAsManyAsCanBeCounted) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(
      read(range(kMost).enumerate().skip(kMost - 2).map([](const Pair& pair) { return std::get<0>(pair) - kMost; })),
      (Texts{"-2", "-1"}));
}

TEST(Positions, MayBeOfMoreThanEightInputs) {
  std::vector<Numbers> inputs;
  for (std::int64_t i = 0; i < 12; ++i) inputs.push_back(range(i, i + 2));
  EXPECT_EQ(read(concatenate(inputs)).size(), 24u);
  EXPECT_EQ(stages_of(concatenate(inputs)), 1u);
}

}  // namespace
}  // namespace penstock
