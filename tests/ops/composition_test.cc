// Chains of ops over positions against lists: a chain gives what its ops give one after the other.
#include <penstock/ops.h>
#include <penstock/random.h>

#include <algorithm>

#include "tests/ops/op_checks.h"

namespace penstock {
namespace {

using testing::Positions;

OpRef random_op(CounterRng& rng) {
  switch (rng.uniform(0, 5)) {
    case 0: {
      const std::int64_t num_shards = rng.uniform(1, 4);
      return ops::shard(num_shards, rng.uniform(std::int64_t{0}, num_shards));
    }
    case 1: return ops::take(rng.uniform(-1, 20));
    case 2: return ops::skip(rng.uniform(0, 6));
    case 3: return ops::shuffle(UNKNOWN_CARDINALITY, {.seed = rng.next_u64()});
    default: return ops::shuffle(rng.uniform(1, 20), {.seed = rng.next_u64()});
  }
}

// What the op makes of a list: its order of as many positions, read from the list.
Positions applied(const OpRef& op, const Positions& input) {
  Positions output;
  for (const std::int64_t i : testing::order_of(op, static_cast<std::int64_t>(input.size()), 3, 1))
    output.push_back(input[static_cast<std::size_t>(i)]);
  return output;
}

std::string text_of(const std::vector<OpRef>& chain, std::int64_t n) {
  std::string text = "range(" + std::to_string(n) + ")";
  for (const OpRef& op : chain) text += "." + op->name() + "(" + op->parameters() + ")";
  return text;
}

TEST(Composition, FindsAPositionInOneStepThroughAllOpsButAWindow) {
  const auto sequence = testing::over_positions(
      {ops::shard(3, 1), ops::shuffle(UNKNOWN_CARDINALITY, {.seed = 7}), ops::skip(4), ops::take(10)}, 90);
  sequence->begin_pass(2, 0);
  const Positions all = testing::drain(*sequence);
  EXPECT_EQ(sequence->find(all[6]), 6);
  EXPECT_EQ(sequence->find(3), 10);  // another shard's
  const auto window = testing::over_positions({ops::shuffle(5, {.seed = 7})}, 90);
  window->begin_pass(0, 0);
  EXPECT_EQ(window->find(3), std::nullopt);
}

TEST(Composition, OfOpsOverPositionsIsTheirCompositionOverLists) {
  for (std::int64_t trial = 0; trial < 400; ++trial) {
    CounterRng rng = make_rng(2026, 0, 0, trial);
    const std::int64_t n = rng.uniform(0, 40);
    std::vector<OpRef> chain;
    Positions expected = testing::first_positions(n);
    for (std::int64_t length = rng.uniform(1, 6); length > 0; --length) {
      chain.push_back(random_op(rng));
      expected = applied(chain.back(), expected);
    }
    SCOPED_TRACE(text_of(chain, n));
    testing::expect_pass(*testing::over_positions(chain, n), 3, 1, expected);
    if (HasFailure()) return;
  }
}

TEST(Composition, FindsAnyPositionInOneStepBehindAllButAWindowShuffle) {
  const OpRef all = ops::shuffle(UNKNOWN_CARDINALITY, {.seed = 7});
  const OpRef window = ops::shuffle(3, {.seed = 7});
  const auto has_at = [](const std::vector<OpRef>& chain) {
    const auto sequence = testing::over_positions(chain, 100);
    sequence->begin_pass(0, 0);
    return sequence->at(0).has_value();
  };
  EXPECT_TRUE(has_at({ops::skip(3), all, ops::shard(3, 1), ops::take(20)}));
  EXPECT_TRUE(has_at({window, all}));
  EXPECT_FALSE(has_at({all, window}));
  EXPECT_FALSE(has_at({window, ops::shard(2, 0), ops::take(5), ops::skip(1)}));
}

TEST(Composition, OfShuffleAndShardSplitsOneOrderAmongAllRanks) {
  const OpRef all = ops::shuffle(UNKNOWN_CARDINALITY, {.seed = 7});
  const Positions order = testing::order_of(all, 100, 2, 0);
  Positions together(100);
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const auto sequence = testing::over_positions({all, ops::shard(3, rank)}, 100);
    sequence->begin_pass(2, 0);
    const Positions part = testing::drain(*sequence);
    for (std::size_t i = 0; i < part.size(); ++i) together[3 * i + static_cast<std::size_t>(rank)] = part[i];
  }
  EXPECT_EQ(together, order);
}

}  // namespace
}  // namespace penstock
