#include <penstock/ops.h>

#include <cstdint>
#include <memory>

#include "lib/graph/traits.h"
#include "tests/ops/op_checks.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

// The state of a cache that goes on behind so many elements of a pass.
std::unique_ptr<MergeState> resumed_behind(const MergeOp& op, std::int64_t elements) {
  StateWriter saved;
  saved.number(elements);
  saved.number(0);  // errors among them
  auto state = op.open(1);
  state->begin_pass({});
  StateReader in(saved.bytes());
  state->restore(in);
  return state;
}

void take(MergeState& state, std::int64_t value, testing::RecordingEmitter& out) {
  state.take(0, testing::element_slot(Element(value), {}), out);
}

TEST(Cache, ThatIsResumedRemembersAgainWhatItGave) {
  const OpRef op = ops::cache(std::make_shared<detail::TypedCopier<std::int64_t>>(), {}, {});
  const auto& cache = dynamic_cast<const MergeOp&>(*op);
  testing::RecordingEmitter out;
  auto state = resumed_behind(cache, 2);
  for (const std::int64_t value : {5, 6, 7}) take(*state, value, out);
  state->ended(0, out);
  ASSERT_EQ(out.slots.size(), 1u);
  EXPECT_EQ(out.slots[0].value.get<std::int64_t>(), 7);
  state->begin_pass({.epoch = 1});
  while (state->want().kind == Want::Kind::own) state->give(out);
  EXPECT_EQ(out.slots.size(), 4u);
  EXPECT_EQ(out.slots[1].value.get<std::int64_t>(), 5);
}

TEST(Cache, ThatIsResumedStandsWhereItStoodWhileItRemembers) {
  const OpRef op = ops::cache(std::make_shared<detail::TypedCopier<std::int64_t>>(), {}, {});
  testing::RecordingEmitter out;
  auto state = resumed_behind(dynamic_cast<const MergeOp&>(*op), 3);
  for (const std::int64_t expected : {3, 3, 3, 4}) {
    take(*state, 5, out);
    StateWriter saved;
    ASSERT_TRUE(state->save(saved));
    EXPECT_EQ(StateReader(saved.bytes()).count(), expected);
  }
}

TEST(Cache, ThatIsResumedTellsOfAnInputThatFailsNow) {
  const OpRef op = ops::cache(std::make_shared<detail::TypedCopier<std::int64_t>>(), {}, {});
  testing::RecordingEmitter out;
  auto state = resumed_behind(dynamic_cast<const MergeOp&>(*op), 2);
  const auto& asks = dynamic_cast<const graph::AsksForInputs&>(*state);
  state->take(0, testing::error_slot({}), out);
  EXPECT_TRUE(asks.has_missed(false));
  EXPECT_FALSE(asks.has_missed(true)) << "the next one is the same";
}

// Of another pass nothing was given.
TEST(Cache, ThatIsResumedLeavesOutNothingOfALaterPass) {
  const OpRef op = ops::cache(std::make_shared<detail::TypedCopier<std::int64_t>>(), {}, {});
  testing::RecordingEmitter out;
  auto state = resumed_behind(dynamic_cast<const MergeOp&>(*op), 3);
  take(*state, 5, out);
  state->begin_pass({.pass = 1});
  state->give(out);
  for (const std::int64_t value : {6, 7}) take(*state, value, out);
  EXPECT_EQ(out.slots.size(), 3u);
}

TEST(Cache, ThatIsResumedTellsOfAnInputWithLess) {
  const OpRef op = ops::cache(std::make_shared<detail::TypedCopier<std::int64_t>>(), {}, {});
  testing::RecordingEmitter out;
  auto state = resumed_behind(dynamic_cast<const MergeOp&>(*op), 2);
  const auto& asks = dynamic_cast<const graph::AsksForInputs&>(*state);
  take(*state, 5, out);
  EXPECT_FALSE(asks.has_missed(true));
  state->ended(0, out);
  EXPECT_TRUE(asks.has_missed(true));
  EXPECT_TRUE(out.slots.empty());
}

}  // namespace
}  // namespace penstock
