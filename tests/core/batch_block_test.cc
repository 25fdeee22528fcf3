#include "lib/core/batch_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/batch.h>
#include <penstock/op.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace penstock {
namespace {

using detail::BatchBlock;
using detail::BatchBlockRef;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::int64_t kWords = 3;
constexpr std::int64_t row_bytes = kWords * 8;

struct NotingPlanner final : detail::RowPlanner {
  void correct(std::int64_t drift, std::uint32_t version) noexcept override { told.emplace_back(drift, version); }
  std::vector<std::pair<std::int64_t, std::uint32_t>> told;
};

BatchBlockRef block_of(std::int64_t rows, std::int64_t number = 0, std::weak_ptr<detail::RowPlanner> planner = {}) {
  return std::make_shared<BatchBlock>(number, rows, DType::i64, Shape{kWords}, std::move(planner));
}

Tensor filled(Tensor tensor, std::int64_t value) {
  std::ranges::fill(tensor.values<std::int64_t>(), value);
  return tensor;
}

Tensor row(const BatchBlockRef& block, std::int64_t index, std::int64_t value) {
  return filled(block->hand_out(index, 0).value(), value);
}

Tensor scratch(std::int64_t value) { return filled(Tensor(DType::i64, {kWords}), value); }

// The first value of each row, all of whose values must be equal.
std::vector<std::int64_t> rows_of(const Tensor& batch) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) {
    const Tensor row = batch.row(i);
    values.push_back(row.values<std::int64_t>()[0]);
    EXPECT_TRUE(
        std::ranges::all_of(row.values<std::int64_t>(), [&](std::int64_t value) { return value == values.back(); }));
  }
  return values;
}

// A batch's builder, with what it copies.
class Collecting {
 public:
  explicit Collecting(std::size_t capacity) : builder_(capacity) {}
  // Takes the row over: nobody else holds it afterwards.
  void add(Tensor row) {
    builder_.check(row);
    builder_.add(row);
  }
  Tensor finish() { return builder_.finish(); }
  std::int64_t copied_rows() const { return (detail::copied_bytes_of_thread() - before_) / row_bytes; }

 private:
  Collate<Tensor>::Builder builder_;
  const std::int64_t before_ = detail::copied_bytes_of_thread();
};

TEST(BatchBlock, HandsEachRowOutToOneAtATime) {
  const auto block = block_of(2);
  auto first = block->hand_out(1, 0);
  EXPECT_TRUE(first.has_value());
  EXPECT_FALSE(block->hand_out(1, 0).has_value());
  const Tensor copy = *first;
  first.reset();
  EXPECT_FALSE(block->hand_out(1, 0).has_value()) << "a copy of the tensor is still there";
}

TEST(BatchBlock, HandsARowOutAgainWhenNobodyHoldsItAnyMore) {
  const auto block = block_of(2);
  block->hand_out(1, 0).reset();
  EXPECT_TRUE(block->hand_out(1, 0).has_value());
}

TEST(BatchBlock, KeepsARowForGoodThatABatchHasTaken) {
  const auto block = block_of(2);
  {
    const auto row = block->hand_out(0, 0);
    EXPECT_TRUE(block->keep(0));
    EXPECT_FALSE(block->keep(0));
  }
  EXPECT_FALSE(block->hand_out(0, 0).has_value());
  EXPECT_TRUE(block->take(1));
  EXPECT_FALSE(block->hand_out(1, 0).has_value());
  EXPECT_FALSE(block->take(1));
}

TEST(BatchBlock, LivesAsLongAsItsRows) {
  auto block = block_of(2);
  const std::weak_ptr<BatchBlock> watched = block;
  Tensor row = *block->hand_out(1, 0);
  block.reset();
  std::ranges::fill(row.values<std::int64_t>(), 7);
  EXPECT_EQ(row, scratch(7));
  row = Tensor();
  EXPECT_TRUE(watched.expired());
}

TEST(BatchBlock, KnowsItsOwnRowsAndNoOtherTensors) {
  const auto block = block_of(3, 5);
  const Tensor row = *block->hand_out(2, 9);
  const BatchBlock::Row at = BatchBlock::row_of(row);
  EXPECT_EQ(at.block, block.get());
  EXPECT_EQ(at.index, 2);
  EXPECT_EQ(at.version, 9u);
  EXPECT_EQ(BatchBlock::row_of(row.row(0)).block, nullptr) << "a part of a row";
  EXPECT_EQ(BatchBlock::row_of(Tensor(DType::f64, {kWords}, row.owner())).block, nullptr) << "of another type";
  EXPECT_EQ(BatchBlock::row_of(block->tensor().row(2)).block, nullptr) << "a view of the batch";
  EXPECT_EQ(BatchBlock::row_of(scratch(1)).block, nullptr);
  EXPECT_EQ(BatchBlock::row_of(Tensor()).block, nullptr);
}

TEST(BatchBlock, TellsHowLargeTheBatchIsThatASlotLiesIn) {
  const auto block = block_of(3);
  EXPECT_EQ(Outputs::batch_bytes(*block->hand_out(0, 0)), static_cast<std::size_t>(3 * row_bytes));
  EXPECT_EQ(Outputs::batch_bytes(scratch(1)), 0u);
}

// Under TSan: whoever gets a row sees that the last owner has let it go.
TEST(BatchBlock, PassesARowFromThreadToThread) {
  const auto block = block_of(1);
  std::atomic<int> turns{0};
  const auto work = [&] {
    while (turns < 2000) {
      if (auto row = block->hand_out(0, 0)) {
        filled(std::move(*row), ++turns);
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_TRUE(block->take(0));
}

TEST(BatchInPlace, CopiesNoRowThatLiesInItsPlace) {
  const auto block = block_of(3);
  Collecting batch(3);
  for (std::int64_t i = 0; i < 3; ++i) batch.add(row(block, i, i));
  const Tensor result = batch.finish();
  EXPECT_EQ(batch.copied_rows(), 0);
  EXPECT_EQ(result.data(), block->tensor().data());
  EXPECT_THAT(rows_of(result), ElementsAre(0, 1, 2));
}

TEST(BatchInPlace, CopiesARowOfItsOwnIntoItsPlaceAmongTheOthers) {
  const auto block = block_of(3);
  Collecting batch(3);
  batch.add(row(block, 0, 0));
  batch.add(scratch(1));
  batch.add(row(block, 2, 2));
  EXPECT_EQ(batch.copied_rows(), 1);
  EXPECT_THAT(rows_of(batch.finish()), ElementsAre(0, 1, 2));
}

TEST(BatchInPlace, MovesRowsUpThatLieBehindTheirPlaces) {
  const auto block = block_of(4), next = block_of(4, 1);
  std::vector<Tensor> rows;
  for (std::int64_t i = 1; i < 4; ++i) rows.push_back(row(block, i, i));
  rows.push_back(row(next, 0, 4));
  Collecting batch(4);
  for (Tensor& row : rows) batch.add(std::exchange(row, Tensor()));
  const Tensor result = batch.finish();
  EXPECT_EQ(batch.copied_rows(), 4);
  EXPECT_EQ(result.data(), block->tensor().data());
  EXPECT_THAT(rows_of(result), ElementsAre(1, 2, 3, 4));
}

TEST(BatchInPlace, ComesIntoItsMemoryThoughItsFirstRowsLayElsewhere) {
  const auto block = block_of(4);
  Collecting batch(4);
  batch.add(scratch(0));
  batch.add(row(block, 1, 1));
  batch.add(scratch(2));
  batch.add(row(block, 3, 3));
  EXPECT_EQ(batch.copied_rows(), 3) << "the first one twice";
  const Tensor result = batch.finish();
  EXPECT_EQ(result.data(), block->tensor().data());
  EXPECT_THAT(rows_of(result), ElementsAre(0, 1, 2, 3));
}

TEST(BatchInPlace, StaysOutsideWhereMoreWouldBeCopiedThanIsSaved) {
  const auto block = block_of(4);
  Collecting batch(4);
  for (std::int64_t i = 0; i < 3; ++i) batch.add(scratch(i));
  batch.add(row(block, 3, 3));
  EXPECT_EQ(batch.copied_rows(), 4);
  EXPECT_THAT(rows_of(batch.finish()), ElementsAre(0, 1, 2, 3));
}

TEST(BatchInPlace, StaysOutsideWhereOneOfItsPlacesIsAnothers) {
  const auto block = block_of(4);
  const Tensor late = row(block, 0, -1);
  Collecting batch(4);
  batch.add(scratch(0));
  batch.add(row(block, 1, 1));
  const Tensor result = batch.finish();
  EXPECT_NE(result.data(), block->tensor().data());
  EXPECT_THAT(rows_of(result), ElementsAre(0, 1));
}

// Its place is still somebody's, who may write there: the batch goes elsewhere.
TEST(BatchInPlace, LeavesTheMemoryWhereItsNextPlaceIsAnothers) {
  const auto block = block_of(3);
  Collecting batch(3);
  batch.add(row(block, 0, 0));
  Tensor late = row(block, 1, -1);
  batch.add(row(block, 2, 2));
  batch.add(scratch(3));
  const Tensor result = batch.finish();
  filled(late, -2);
  EXPECT_NE(result.data(), block->tensor().data());
  EXPECT_THAT(rows_of(result), ElementsAre(0, 2, 3));
}

TEST(BatchInPlace, DoesNotBeginWhereABatchHasBegun) {
  const auto block = block_of(3);
  Collecting first(3), second(3);
  first.add(row(block, 0, 0));
  const Tensor early = first.finish();
  second.add(row(block, 1, 1));
  second.add(row(block, 2, 2));
  EXPECT_THAT(rows_of(second.finish()), ElementsAre(1, 2));
  EXPECT_THAT(rows_of(early), ElementsAre(0));
}

TEST(BatchInPlace, ThatIsNotFullShowsOnlyItsOwnRows) {
  const auto block = block_of(3);
  Collecting batch(3);
  batch.add(row(block, 0, 0));
  const Tensor result = batch.finish();
  const Tensor later = row(block, 1, 1);
  EXPECT_EQ(result.shape(), (Shape{1, kWords}));
  EXPECT_THAT(rows_of(result), ElementsAre(0));
}

TEST(BatchInPlace, DoesNotBeginInMemoryThatIsTooSmall) {
  const auto block = block_of(2);
  Collecting batch(3);
  batch.add(row(block, 0, 0));
  batch.add(row(block, 1, 1));
  batch.add(scratch(2));
  EXPECT_THAT(rows_of(batch.finish()), ElementsAre(0, 1, 2));
}

TEST(BatchInPlace, TakesMoreMemoryForMoreRowsThanItsMemoryHas) {
  const auto block = block_of(2);
  Collecting batch(2);
  batch.add(row(block, 0, 0));
  batch.add(row(block, 1, 1));
  batch.add(scratch(2));
  EXPECT_THAT(rows_of(batch.finish()), ElementsAre(0, 1, 2));
}

TEST(BatchInPlace, CopiesARowThatComesTwice) {
  const auto block = block_of(3);
  Collecting batch(3);
  const Tensor twice = row(block, 0, 7);
  batch.add(twice);
  batch.add(twice);
  EXPECT_EQ(batch.copied_rows(), 1);
  EXPECT_THAT(rows_of(batch.finish()), ElementsAre(7, 7));
}

TEST(BatchInPlace, TellsHowFarARowIsBehindItsPlace) {
  const auto planner = std::make_shared<NotingPlanner>();
  const auto block = block_of(3, 7, planner), next = block_of(3, 8, planner);
  Collecting batch(3);
  batch.add(*block->hand_out(1, 4));
  batch.add(*block->hand_out(2, 4));
  batch.add(*next->hand_out(1, 5));
  EXPECT_THAT(planner->told, ElementsAre(Pair(1, 4u), Pair(1, 4u), Pair(2, 5u)));
}

// What was planned for it is lost: the next batch is to begin with a block of its own.
TEST(BatchInPlace, InMemoryOfItsOwnAsksForTheNextBlock) {
  const auto planner = std::make_shared<NotingPlanner>();
  const auto block = block_of(3, 7, planner);
  ASSERT_TRUE(block->take(0));
  Collecting batch(3);
  batch.add(*block->hand_out(2, 0));
  EXPECT_THAT(planner->told, ElementsAre(Pair(-1, 0u)));
}

TEST(BatchInPlace, TellsNothingOfRowsInTheirPlaces) {
  const auto planner = std::make_shared<NotingPlanner>();
  const auto block = block_of(2, 0, planner);
  Collecting batch(2);
  batch.add(*block->hand_out(0, 0));
  batch.add(*block->hand_out(1, 0));
  EXPECT_TRUE(planner->told.empty());
}

}  // namespace
}  // namespace penstock
