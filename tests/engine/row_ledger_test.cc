// Where results are to lie, worked out without an engine: inputs are admitted, entered, declared and completed by hand.
#include "lib/exec/row_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace penstock::exec {
namespace {

using detail::BatchBlock;

class Ledger {
 public:
  explicit Ledger(const BatchAhead& batch) : ledger(std::make_shared<RowLedger>(batch)) {}

  std::int64_t admit(std::size_t count = 1) {
    std::vector<Slot> inputs(count);
    return ledger->admit(inputs);
  }
  void admit_mark(std::uint8_t level) {
    std::vector<Slot> marks(1);
    marks[0].set_kind(Slot::Kind::pass_end);
    marks[0].set_level(level);
    ledger->admit(marks);
  }
  void admit_error() {
    std::vector<Slot> errors(1);
    errors[0].set_kind(Slot::Kind::error);
    ledger->admit(errors);
  }
  // "0:2": row 2 of block 0, "-": scratch memory. The row is kept.
  std::string row(std::int64_t turn, std::size_t i = 0, const Shape& shape = {4}) {
    kept.push_back(ledger->row(turn, i, DType::i64, shape));
    const BatchBlock::Row at = BatchBlock::row_of(kept.back());
    return at.block == nullptr ? "-" : std::to_string(at.block->number()) + ":" + std::to_string(at.index);
  }

  std::shared_ptr<RowLedger> ledger;
  std::vector<Tensor> kept;
};

TEST(RowLedger, GivesResultsTheirPlacesInOrder) {
  Ledger of({.size = 3});
  of.admit(2);
  of.ledger->declare(0, 2);
  of.ledger->declare(1, 2);
  EXPECT_EQ(of.row(1, 1), "1:0");
  EXPECT_EQ(of.row(0, 0), "0:0");
  EXPECT_EQ(of.row(0, 1), "0:1");
  EXPECT_EQ(of.row(1, 0), "0:2");
}

TEST(RowLedger, KnowsNoPlaceBeforeAllEarlierElementsHaveDeclared) {
  Ledger of({.size = 3});
  of.admit(2);
  of.ledger->declare(1, 1);
  EXPECT_EQ(of.row(1), "-");
  of.ledger->declare(0, 0);
  EXPECT_EQ(of.row(1), "0:0");
}

TEST(RowLedger, KnowsAllPlacesWhereEachElementGivesOneResult) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  of.admit(5);
  EXPECT_EQ(of.row(4), "1:1");
}

TEST(RowLedger, CountsNothingBeforeUnbatchUntilItIsDeclared) {
  Ledger of({.size = 3, .takes_apart = true, .declares = Declares::one_each});
  of.admit(2);
  EXPECT_EQ(of.row(1), "-");
}

TEST(RowLedger, CountsAnElementThatEndsWithoutADeclarationAsOne) {
  Ledger of({.size = 3, .takes_apart = true});
  of.admit(3);
  of.ledger->complete(0, std::nullopt);
  of.ledger->declare(1, 1);
  EXPECT_EQ(of.row(1), "0:1");
}

TEST(RowLedger, CountsErrorsAsNothing) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  of.admit_error();
  of.admit();
  EXPECT_EQ(of.row(1), "0:0");
}

TEST(RowLedger, MovesLaterElementsUpWhenOneFails) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  of.admit(3);
  EXPECT_EQ(of.row(1), "0:1");
  of.ledger->complete(0, 0);
  EXPECT_EQ(of.row(2), "-") << "its place is another's for now";
  of.admit(1);
  EXPECT_EQ(of.row(3), "0:2");
}

TEST(RowLedger, BeginsABatchAfterTheEndOfItsInput) {
  Ledger of({.size = 3, .depth = 1, .declares = Declares::one_each});
  of.admit();
  of.admit_mark(0);
  EXPECT_EQ(of.row(of.admit()), "0:1");
  of.admit_mark(1);
  EXPECT_EQ(of.row(of.admit()), "1:0");
}

TEST(RowLedger, GivesOneElementOnePlaceForEachKindOfTensor) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  of.admit();
  EXPECT_EQ(of.row(0, 0, {4}), "0:0");
  EXPECT_EQ(of.row(0, 0, {4}), "-");
  EXPECT_EQ(of.row(0, 0, {5}), "0:0");
}

TEST(RowLedger, MakesNoBlocksForShapesThatNeverRepeat) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  of.admit();
  for (std::int64_t rows = 1; rows < 9; ++rows) of.row(0, 0, {rows});
  EXPECT_LT(of.ledger->open_blocks(), 6u);
}

TEST(RowLedger, MakesNoBlockForABatchOfAnySize) {
  Ledger of({.size = 1'000'000'000, .declares = Declares::one_each});
  of.admit();
  EXPECT_EQ(of.row(0), "-");
}

// Places of a million numbers held 128 MB in each open batch of 4 MB.
TEST(RowLedger, MakesNoBlockWherePlacesWouldHoldMoreThanRows) {
  Ledger of({.size = 100'000, .declares = Declares::one_each});
  of.admit();
  EXPECT_EQ(of.row(0, 0, {1}), "-");
  EXPECT_EQ(of.row(0, 0, {70}), "0:0");
}

TEST(RowLedger, MakesBlocksOfTheSmallestRowsWhereTheyAreFew) {
  Ledger of({.size = 1000, .declares = Declares::one_each});
  of.admit();
  EXPECT_EQ(of.row(0, 0, {1}), "0:0");
}

TEST(RowLedger, MakesNoBlockForRowsWithoutValues) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  of.admit();
  EXPECT_EQ(of.row(0, 0, {0, 4}), "-");
}

TEST(RowLedger, LetsABlockGoWhenAllBeforeItsEndIsDone) {
  Ledger of({.size = 2, .declares = Declares::one_each});
  of.admit(5);
  for (std::int64_t turn = 0; turn < 5; ++turn) of.row(turn);
  EXPECT_EQ(of.ledger->open_blocks(), 3u);
  of.ledger->complete(1, 1);
  of.ledger->complete(2, 1);
  EXPECT_EQ(of.ledger->open_blocks(), 3u);
  EXPECT_FALSE(of.ledger->has_garbage());
  of.ledger->complete(0, 1);
  EXPECT_EQ(of.ledger->open_blocks(), 2u);
  EXPECT_TRUE(of.ledger->has_garbage());
  of.ledger->drop_garbage();
  EXPECT_FALSE(of.ledger->has_garbage());
}

TEST(RowLedger, LearnsFromTheBatchHowFarPlacesAreOff) {
  Ledger of({.size = 4, .declares = Declares::one_each});
  of.admit(2);
  EXPECT_EQ(of.row(0), "0:0");
  EXPECT_EQ(of.row(1), "0:1");
  of.ledger->correct(1, 0);
  of.ledger->correct(1, 0);  // by the next row: it is the same mistake
  of.admit(2);
  EXPECT_EQ(of.row(2), "-") << "row 1 is another's for now";
  EXPECT_EQ(of.row(3), "0:2");
}

TEST(RowLedger, TakesThePlaceOfANextBatchForOneThatIsGone) {
  Ledger of({.size = 2, .declares = Declares::one_each});
  of.admit(4);
  for (std::int64_t turn = 0; turn < 4; ++turn) of.ledger->complete(turn, 1);
  of.ledger->correct(3, 0);
  EXPECT_EQ(of.row(of.admit()), "2:1");
}

TEST(RowLedger, StandsAnyDeclaration) {
  Ledger of({.size = 2, .takes_apart = true});
  of.admit(4);
  of.ledger->declare(0, std::int64_t{1} << 47);
  of.ledger->declare(1, 1);
  EXPECT_EQ(of.row(1), "1073741824:0");
  of.ledger->declare(0, 1);
  EXPECT_EQ(of.row(1), "0:1");
  EXPECT_EQ(of.row(7), "-");
  of.ledger->declare(7, 1);
  of.ledger->complete(7, 1);
}

TEST(RowLedger, AsksAnOpNoMoreThatDeclaresNothing) {
  Ledger of({.size = 2});
  for (int i = 0; i < 256; ++i) of.ledger->complete(of.admit(), 1);
  EXPECT_EQ(of.admit(), RowLedger::kNoTurn);
}

TEST(RowLedger, GoesOnWithAnOpThatDeclares) {
  Ledger of({.size = 2});
  for (int i = 0; i < 256; ++i) {
    const std::int64_t turn = of.admit();
    of.ledger->declare(turn, 0);
    of.ledger->complete(turn, 0);
  }
  EXPECT_EQ(of.admit(), 256);
}

// Gives as many results as the number that it gets; of 13 that cannot be told.
class AsManyAsItSays final : public ElementwiseOp {
 public:
  std::string name() const override { return "as_many_as_it_says"; }
  Flow flow(const Flow& input) const override { return input; }
  std::optional<std::size_t> outputs_of(const Element& input) const override {
    const auto number = input.get<std::int64_t>();
    if (number == 13) throw std::runtime_error("cannot tell");
    return static_cast<std::size_t>(number);
  }
};

std::int64_t admit(Ledger& of, const std::vector<std::int64_t>& numbers) {
  std::vector<Slot> inputs;
  for (const std::int64_t number : numbers) inputs.emplace_back(Element(number), Stamp{});
  return of.ledger->admit(inputs);
}

TEST(RowLedger, KnowsAllPlacesWhereInputsTellTheNumberOfResults) {
  Ledger of({.size = 3, .takes_apart = true, .op = std::make_shared<AsManyAsItSays>()});
  admit(of, {2, 0, 2, 1});
  EXPECT_EQ(of.row(3), "1:1");
  EXPECT_EQ(of.row(2, 1), "1:0");
  EXPECT_EQ(of.row(0), "0:0");
}

TEST(RowLedger, WaitsForTheDeclarationWhereAskingTheInputFails) {
  Ledger of({.size = 3, .takes_apart = true, .op = std::make_shared<AsManyAsItSays>()});
  admit(of, {13, 1});
  EXPECT_EQ(of.row(1), "-");
  of.ledger->declare(0, 2);
  EXPECT_EQ(of.row(1), "0:2");
}

TEST(RowLedger, StandsAnyNumberThatAnInputTells) {
  Ledger of({.size = 2, .takes_apart = true, .op = std::make_shared<AsManyAsItSays>()});
  admit(of, {-1, 1});
  EXPECT_EQ(of.row(1), "1073741824:0");
}

TEST(RowLedger, KnowsTheInputsOfItsGroupOnly) {
  Ledger of({.size = 3, .declares = Declares::one_each});
  std::vector<Slot> slots(2);
  const std::int64_t first = of.ledger->admit(slots);
  GroupRows rows(*of.ledger, slots, first);
  EXPECT_EQ(rows.enter(slots[1]), first + 1);
  const Slot another{};
  EXPECT_EQ(rows.enter(another), RowLedger::kNoTurn);
  EXPECT_EQ(BatchBlock::row_of(rows.row(RowLedger::kNoTurn, 0, DType::i64, {4})).block, nullptr);
}

}  // namespace
}  // namespace penstock::exec
