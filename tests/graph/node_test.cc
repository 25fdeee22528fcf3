#include "lib/graph/node.h"

#include <gtest/gtest.h>
#include <penstock/ops.h>
#include <penstock/rejection_resample.h>
#include <penstock/sources.h>

#include <array>
#include <new>
#include <set>
#include <thread>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

constexpr ErrorCode invalid = ErrorCode::invalid_argument;
constexpr CallSite here{"/home/me/src/train.cc", 12};

graph::NodeRef source() { return graph::append(nullptr, ops::range(0, 10, 1), {"train.cc", 10}); }

// An op that is none of the kinds.
class Shapeless final : public Op {
 public:
  std::string name() const override { return "shapeless"; }
  Flow flow(const Flow& input) const override { return input; }
};

TEST(Node, KnowsItsPlace) {
  const graph::NodeRef first = source();
  const graph::NodeRef second = graph::append(first, ops::take(3), here);
  EXPECT_EQ(first->position(), 0);
  EXPECT_EQ(first->inputs().size(), 0u);
  EXPECT_EQ(second->position(), 1);
  EXPECT_EQ(second->inputs().front(), first);
  EXPECT_EQ(second->op().name(), "take");
  EXPECT_EQ(second->site().line, 12);
}

TEST(Node, KnowsItsFlow) {
  const graph::NodeRef taken = graph::append(graph::append(source(), ops::repeat(-1), here), ops::take(7), here);
  EXPECT_EQ(graph::cardinality(taken), 7);
  EXPECT_EQ(graph::cardinality(taken->inputs().front()), INFINITE_CARDINALITY);
}

TEST(Node, KnowsItsKind) {
  using graph::Kind;
  EXPECT_EQ(source()->kind(), Kind::source);
  EXPECT_EQ(graph::append(source(), ops::take(3), here)->kind(), Kind::stream);
  EXPECT_EQ(graph::append(source(), ops::repeat(3), here)->kind(), Kind::repeat);
  EXPECT_EQ(graph::append(source(), ops::prefetch(3), here)->kind(), Kind::buffer);
  EXPECT_EQ(range(3).map([](std::int64_t x) { return x; }).node()->kind(), Kind::elementwise);
}

TEST(Node, IsSeenAsItsInterfaceAndNoOther) {
  EXPECT_NE(source()->as<SourceOp>(), nullptr);
  EXPECT_EQ(source()->as<StreamOp>(), nullptr);
}

TEST(Node, ListsAllBeforeItFromTheSource) {
  const graph::NodeRef last = graph::append(graph::append(source(), ops::skip(1), here), ops::take(3), here);
  std::vector<std::string> names;
  for (const graph::Use& use : graph::uses(last)) names.push_back(use.node->op().name());
  EXPECT_THAT(names, ::testing::ElementsAre("range", "skip", "take"));
}

TEST(Node, MayBelongToSeveralPipelines) {
  const auto base = range(10).skip(2);
  EXPECT_EQ(base.take(3).node()->inputs().front(), base.take(5).node()->inputs().front());
}

TEST(Node, NumbersItsEpochsForItselfAlone) {
  const auto train = range(10);
  const auto copy = train;
  const auto peek = train.take(1);
  EXPECT_EQ(graph::take_epoch(train.node()), 0u);
  EXPECT_EQ(graph::take_epoch(peek.node()), 0u);
  EXPECT_EQ(graph::take_epoch(copy.node()), 1u);
  EXPECT_EQ(graph::take_epoch(train.node()), 2u);
}

TEST(Node, GivesEachEpochOnceWhicheverThreadAsks) {
  const graph::NodeRef node = source();
  std::vector<std::vector<std::uint32_t>> taken(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : taken)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) mine.push_back(graph::take_epoch(node));
      });
  }
  std::set<std::uint32_t> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 4000u);
  EXPECT_EQ(*all.rbegin(), 3999u);
}

// ------------------------------------------------------------------------------------------------
// errors

TEST(GraphErrors, NameOpReasonPositionFileAndLine) {
  EXPECT_ERROR(graph::fail(graph::append(graph::append(source(), ops::take(3), here), ops::skip(1), here), "shard",
                           here, "num_shards must be at least 1, but is 0"),
               invalid, "shard: num_shards must be at least 1, but is 0 (op 3 of the chain, train.cc:12)");
}

TEST(GraphErrors, LeaveOutALineThatIsUnknown) {
  try {
    graph::fail(nullptr, "range", {}, "no");
  } catch (const GraphError& error) {
    EXPECT_STREQ(error.what(), "range: no (op 0 of the chain)");
  }
}

TEST(GraphErrors, ComeFromTheUsersOwnCall) {
  EXPECT_THROW(range(10).shard(0, 0), GraphError);
  EXPECT_ERROR(range(10).skip(1).take(-7, {"train.cc", 9}), invalid,
               "take: count must be at least 0, or -1 for all elements, but is -7 (op 2 of the "
               "chain, train.cc:9)");
  EXPECT_ERROR(range(10).map([](std::int64_t x) { return x; }, -4, {}, {"a/b.cc", 1}), invalid,
               "map: parallelism must be at least 1, but is -4 (op 1 of the chain, b.cc:1)");
}

TEST(GraphErrors, RefuseAChainWithoutASource) {
  EXPECT_ERROR(graph::append(nullptr, ops::take(3), here), invalid, "take: it needs an input: begin with a source");
}

TEST(GraphErrors, RefuseASourceBehindAnotherOp) {
  EXPECT_ERROR(graph::append(source(), ops::range(0, 3, 1), here), invalid,
               "range: it is a source and can only stand first (op 1 of the chain, train.cc:12)");
}

TEST(GraphErrors, RefuseANullPointer) {
  EXPECT_ERROR(range(3).then<int>(nullptr, here), invalid,
               "then: the op is a null pointer; give it one, as in then<Out>(std::make_shared<MyOp>()) (op 1 of the "
               "chain, train.cc:12)");
}

TEST(GraphErrors, RefuseAnOpOfNoKnownKind) {
  EXPECT_ERROR(graph::append(source(), std::make_shared<Shapeless>(), here), invalid,
               "shapeless: the op is neither a SourceOp nor an ElementwiseOp nor a StreamOp");
}

TEST(GraphErrors, RefuseToShuffleAllOfAnEndlessInput) {
  EXPECT_ERROR(range(3).repeat().shuffle(UNKNOWN_CARDINALITY, {.seed = 7}, here), invalid,
               "shuffle: buffer_size is UNKNOWN_CARDINALITY (all elements), but the input never "
               "ends: give a number, or "
               "shuffle before repeat (op 2 of the chain, train.cc:12)");
  EXPECT_EQ(range(3).repeat().shuffle(5, {.seed = 7}).cardinality(), INFINITE_CARDINALITY);
}

TEST(GraphErrors, RefuseAShardBehindAShuffleWithoutASeed) {
  EXPECT_ERROR(range(10).shuffle(10).skip(1).shard(2, 0, here), invalid,
               "shard: each rank would draw another order, because shuffle (op 1) has no seed: "
               "give it the same one on all "
               "ranks, as in shuffle(n, {.seed = 7}) (op 3 of the chain, train.cc:12)");
}

TEST(GraphErrors, AllowAShardWhereAllRanksHaveOneOrder) {
  EXPECT_EQ(range(10).shuffle(10, {.seed = 7}).shard(2, 0).cardinality(), 5);
  EXPECT_EQ(range(10).shuffle(10).shard(1, 0).cardinality(), 10);
  EXPECT_EQ(range(10).shard(2, 0).shuffle(10).cardinality(), 5);
}

bool is_odd(std::int64_t x) { return x % 2 != 0; }

TEST(GraphErrors, RefuseToShareAnUnknownCountAmongRanks) {
  const World world{.size = 2};
  EXPECT_ERROR(
      range(10).filter(is_odd).skip(1).shard(world, here), invalid,
      "shard: ranks may get different numbers of elements, because it is unknown how many leave filter (op 1)");
  const auto generated = from_generator([]() -> std::optional<int> { return std::nullopt; });
  EXPECT_ERROR(generated.take(3).shard(world, here), invalid, "leave from_generator (op 0)");
  EXPECT_ERROR(range(10).batch(3).unbatch().shard(world, here), invalid, "leave unbatch (op 2)");
}

TEST(GraphErrors, AllowAnUnknownCountWhereRanksCannotDiffer) {
  const World world{.size = 2, .rank = 1};
  const auto odd = range(10).filter(is_odd);
  EXPECT_EQ(odd.shard(World{}).cardinality(), UNKNOWN_CARDINALITY);  // one rank
  EXPECT_EQ(odd.repeat().shard(world).cardinality(), INFINITE_CARDINALITY);
  EXPECT_EQ(odd.shard(world.size, world.rank).cardinality(), UNKNOWN_CARDINALITY);  // the caller's own matter
  EXPECT_EQ(range(10).shard(world).filter(is_odd).cardinality(), UNKNOWN_CARDINALITY);
  EXPECT_EQ(range(5).batch(2).shard(world).cardinality(), 1);
}

// ------------------------------------------------------------------------------------------------
// printing

TEST(Describe, PrintsOneAlignedLineAnOp) {
  const auto dataset = range(0, 10, 1, {"main.cc", 10})
                           .shuffle(200'000, {.seed = 7}, {"main.cc", 11})
                           .map([](std::int64_t x) { return x; }, AUTOTUNE, {.blocks = true}, {"main.cc", 12})
                           .prefetch(4, {"main.cc", 13});
  EXPECT_EQ(describe(dataset),
            "0  range     start=0, stop=10, step=1    main.cc:10\n"
            "1  shuffle   buffer_size=200000, seed=7  main.cc:11\n"
            "2  map       parallelism=auto, blocks    main.cc:12\n"
            "3  prefetch  buffer_size=4               main.cc:13\n");
}

TEST(Describe, PrintsPositionsOfTwoDigitsAndUnknownLines) {
  auto dataset = range(0, 1, 1, {});
  for (int i = 0; i < 10; ++i) dataset = dataset.ignore_errors({});
  const std::string text = describe(dataset);
  EXPECT_THAT(text, ::testing::HasSubstr(" 0  range          start=0, stop=1, step=1\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\n10  ignore_errors\n"));
}

TEST(Describe, PrintsBoundsAndOrders) {
  const auto same = [](std::int64_t x) { return x; };
  const auto dataset =
      range(3).map(same, Tunable::between(2, 16)).map(same, 8, {.order = Order::arbitrary, .blocks = false});
  EXPECT_THAT(describe(dataset), ::testing::HasSubstr("parallelism=2..16  "));
  EXPECT_THAT(describe(dataset), ::testing::HasSubstr("order=arbitrary, parallelism=8  "));
}

TEST(PipelineText, HoldsWhatDecidesTheElementsAndNothingElse) {
  const auto pipeline = [](Tunable parallelism, Tunable buffer, std::uint64_t seed, CallSite site) {
    return graph::pipeline_text(range(0, 9, 1, site)
                                    .shuffle(5, {.seed = seed}, site)
                                    .map([](std::int64_t x) { return x; }, parallelism, {}, site)
                                    .prefetch(buffer, site)
                                    .node());
  };
  EXPECT_EQ(pipeline(4, 2, 7, here),
            "0 range(start=0, stop=9, step=1)\n1 shuffle(buffer_size=5, seed=7)\n2 map()\n3 "
            "prefetch()\n");
  EXPECT_EQ(pipeline(4, 2, 7, here), pipeline(AUTOTUNE, AUTOTUNE, 7, {"other.cc", 1}));
  EXPECT_NE(pipeline(4, 2, 7, here), pipeline(4, 2, 8, here));
}

// What cannot be told apart is left out: a state without a Codec, as functions are.
TEST(PipelineText, HoldsTheStateThatAScanBeginsWith) {
  const auto text = [](auto initial) {
    const auto same = [](const auto& state, std::int64_t x) { return Scanned{state, x}; };
    return graph::pipeline_text(range(9).scan(std::move(initial), same).node());
  };
  EXPECT_EQ(text(std::int64_t{-3}), "0 range(start=0, stop=9, step=1)\n1 scan(initial=-3)\n");
  EXPECT_EQ(text(std::vector{1.5, 2.0}), text(std::vector{1.5, 2.0}));
  EXPECT_NE(text(std::vector{1.5, 2.0}), text(std::vector{1.5, 2.5}));
  const auto of_dirt = [&](unsigned char dirt) {
    alignas(long double) std::array<unsigned char, sizeof(long double)> bytes{};
    bytes.fill(dirt);
    return text(*::new (static_cast<void*>(bytes.data())) long double(1.5L));
  };
  EXPECT_EQ(of_dirt(0x55), of_dirt(0xAA)) << "bytes that are no part of the value";
  struct Opaque {};
  EXPECT_EQ(text(Opaque()), "0 range(start=0, stop=9, step=1)\n1 scan()\n");
}

TEST(PipelineText, HoldsTheSharesOfARejectionResample) {
  const auto text = [](std::vector<double> target, ResampleOptions options) {
    const auto class_of = [](std::int64_t x) { return x % 2; };
    return graph::pipeline_text(rejection_resample(range(9), class_of, std::move(target), std::move(options)).node());
  };
  EXPECT_EQ(
      text({0.5, 0.5}, {.initial = {0.9, 0.1}, .seed = 7}),
      "0 range(start=0, stop=9, step=1)\n1 filter(name=rejection_resample, target=1/1, initial=1/0.11111111111111112, "
      "seed=7)\n");
  EXPECT_EQ(text({1, 1}, {}),
            "0 range(start=0, stop=9, step=1)\n1 filter(name=rejection_resample, target=1/1, counted)\n");
  EXPECT_NE(text(std::vector<double>(100, 1), {}), text(std::vector<double>(101, 1), {}));
}

TEST(WorkText, IsTheSameForOtherSeedsAndData) {
  const auto pipeline = [](std::int64_t count, const ShuffleOptions& order, std::int64_t batch) {
    return graph::work_text(range(count).shuffle(5, order).batch(batch).node());
  };
  EXPECT_EQ(pipeline(9, {.seed = 7}, 2), "0 range()\n1 shuffle(buffer_size=5)\n2 batch(batch_size=2)\n");
  EXPECT_EQ(pipeline(9, {.seed = 7}, 2), pipeline(9, {.seed = 8}, 2));
  EXPECT_EQ(pipeline(9, {}, 2), pipeline(1000, {}, 2)) << "each draws a seed";
  EXPECT_NE(pipeline(9, {}, 2), pipeline(9, {}, 3));
  EXPECT_NE(pipeline(9, {}, 2), pipeline(9, {.reshuffle_each_epoch = false}, 2));
}

}  // namespace
}  // namespace penstock
