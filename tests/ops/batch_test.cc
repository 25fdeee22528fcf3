#include <penstock/ops.h>
#include <penstock/sources.h>

#include <limits>
#include <stdexcept>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

// An integer that does not sit beside 13, breaks its batch if it is 99 and breaks it at the end if
// it is 98.
struct Difficult {
  std::int64_t value;
};

}  // namespace

template <> struct Collate<Difficult> {
  using Result = std::vector<std::int64_t>;
  class Builder {
   public:
    explicit Builder(std::size_t) {}
    void check(const Difficult& row) const {
      if (row.value == 13 && !rows_.empty()) throw std::invalid_argument("13 must stand first");
    }
    void add(Difficult row) {
      if (row.value == 99) throw std::bad_alloc();
      rows_.push_back(row.value);
    }
    Result finish() {
      if (rows_.back() == 98) throw std::runtime_error("98 cannot be last");
      return std::move(rows_);
    }

   private:
    Result rows_;
  };
};

namespace {

using testing::counting;
using testing::INF;
using testing::StreamRun;
using testing::UNK;

constexpr BatchOptions drop{.drop_remainder = true};

template <class T = std::int64_t> OpRef batch(std::int64_t size, BatchOptions options = {}) {
  return ops::batch(size, std::make_shared<detail::TypedBatchFactory<T>>(), options);
}

std::string print_batch(const Element& value) {
  std::string text;
  for (const std::int64_t x : value.get<std::vector<std::int64_t>>())
    text += (text.empty() ? "" : " ") + std::to_string(x);
  return "[" + text + "]";
}

std::string batches_of(const OpRef& op, const std::string& input) {
  return StreamRun(op).pass(input).text(print_batch);
}

TEST(Batch, PutsElementsTogether) {
  EXPECT_EQ(batches_of(batch(4), counting(8)), "[0 1 2 3] [4 5 6 7]");
  EXPECT_EQ(batches_of(batch(4, drop), counting(8)), "[0 1 2 3] [4 5 6 7]");
  EXPECT_EQ(batches_of(batch(1), counting(3)), "[0] [1] [2]");
}

TEST(Batch, KeepsOrDropsASmallerLastOne) {
  EXPECT_EQ(batches_of(batch(3), counting(8)), "[0 1 2] [3 4 5] [6 7]");
  EXPECT_EQ(batches_of(batch(3, drop), counting(8)), "[0 1 2] [3 4 5]");
  EXPECT_EQ(batches_of(batch(12), counting(3)), "[0 1 2]");
  EXPECT_EQ(batches_of(batch(12, drop), counting(3)), "");
}

TEST(Batch, OfNothingIsNothing) { EXPECT_EQ(batches_of(batch(4), ""), ""); }

TEST(Batch, ForwardsErrorsAtOnceAndCountsThemNot) {
  EXPECT_EQ(batches_of(batch(2), "0 x 1 x x 2"), "x1 [0 1] x3 x4 [2]");
}

TEST(Batch, StartsAnewInEachPass) {
  StreamRun run(batch(2, drop));
  EXPECT_EQ(run.pass("0 1 2").text(print_batch), "[0 1]");
  EXPECT_EQ(run.pass("3 4").text(print_batch), "[3 4]");
}

TEST(Batch, CarriesTheStampOfItsLastMember) {
  const auto out = StreamRun(batch(2)).pass("0 x 1 2", 3, 1);
  ASSERT_EQ(out.slots.size(), 3u);
  EXPECT_EQ(out.slots[1].stamp.ordinal, 2);
  EXPECT_EQ(out.slots[2].stamp.ordinal, 3);
  EXPECT_EQ(out.slots[2].stamp.epoch, 3u);
  EXPECT_EQ(out.slots[2].stamp.pass, 1u);
}

// Who resumes behind it has had the error.
TEST(Batch, ThatIsARemainderCarriesTheStampOfAnErrorBehindItsMembers) {
  const auto out = StreamRun(batch(4)).pass("0 1 x");
  ASSERT_EQ(out.slots.size(), 2u);
  EXPECT_EQ(out.slots[1].stamp.ordinal, 2);
}

TEST(Batch, CountsTheBytesOfItsMembersWhileItCollects) {
  StreamRun run(batch(3));
  testing::RecordingEmitter out;
  StreamState& state = run.state();
  state.begin_pass(out);
  const auto feed = [&] {
    state.element(testing::element_slot(Element(std::int64_t{1}), {}, 50 + static_cast<std::int64_t>(sizeof(Slot))),
                  out);
  };
  feed();
  feed();
  EXPECT_EQ(state.held_bytes(), 100);
  feed();
  EXPECT_EQ(state.held_bytes(), 0);
  feed();
  state.pass_end(out);
  EXPECT_EQ(state.held_bytes(), 0);
}

// ------------------------------------------------------------------------------------------------
// misfits

// 0 is an error from before.
testing::RecordingEmitter run_difficult(std::int64_t size, const std::vector<std::int64_t>& values,
                                        const BatchOptions& options = {}) {
  testing::RecordingEmitter out;
  const auto state = testing::as_stream(batch<Difficult>(size, options)).open(0);
  state->begin_pass(out);
  Stamp stamp;
  for (const std::int64_t value : values) {
    if (value == 0) {
      state->error(testing::error_slot(stamp), out);
    } else {
      state->element(testing::element_slot(Element(Difficult{value}), stamp), out);
    }
    ++stamp.ordinal;
  }
  state->pass_end(out);
  return out;
}

TEST(Batch, ReportsAnElementThatDoesNotFitInItsPlaceAndGoesOn) {
  const auto out = run_difficult(3, {1, 13, 2, 3, 13, 4});
  EXPECT_EQ(out.text(print_batch), "! [1 2 3] [13 4]");
  EXPECT_EQ(testing::error_text(out.slots[0]), "13 must stand first");
  EXPECT_EQ(out.slots[0].stamp.ordinal, 1);
}

TEST(Batch, ThatDropsTheRemainderDropsWhatDoesNotFitThere) {
  EXPECT_EQ(run_difficult(3, {1, 2, 3, 4, 13}, drop).text(print_batch), "[1 2 3]");
  EXPECT_EQ(run_difficult(3, {1, 2, 3, 4, 13, 0}, drop).text(print_batch), "[1 2 3] x5");
  EXPECT_EQ(run_difficult(3, {1, 2, 3, 4, 13}).text(print_batch), "[1 2 3] ! [4]");
  EXPECT_EQ(run_difficult(3, {1, 13, 2, 3, 4, 13}, drop).text(print_batch), "! [1 2 3]")
      << "the first 13 belongs to the batch before";
}

// TensorFlow gives three rows and ends.
TEST(Batch, ThatDropsTheRemainderEndsAsInTensorFlow) {
  const auto to_tensor = [](std::int64_t x) { return Tensor::scalar(x); };
  const auto rows = range(18).map(to_tensor).batch(4).batch(3, drop).unbatch();
  for (const bool serial : {false, true}) {
    auto run = rows.start({.serial = serial});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run.next().value().shape(), Shape{4});
    EXPECT_FALSE(run.next().has_value());
  }
}

TEST(Batch, ThatDropsTheRemainderReportsWhatDoesNotFitIntoAWholeOne) {
  EXPECT_EQ(run_difficult(3, {1, 13, 0, 2, 13, 3, 4}, drop).text(print_batch), "! x2 ! [1 2 3]");
  EXPECT_EQ(run_difficult(3, {1, 13, 13, 13}, drop).text(print_batch), "! ! !") << "three have come: not the remainder";
  EXPECT_EQ(run_difficult(3, {1, 13, 99, 2, 3}, drop).text(print_batch), "! !")
      << "a batch that is lost while it is collected";
}

TEST(Batch, IsLostWithAnErrorIfCollectingFails) {
  const auto out = run_difficult(3, {1, 2, 99, 3, 4, 5});
  EXPECT_EQ(out.text(print_batch), "! [3 4 5]");
  EXPECT_THAT(testing::error_text(out.slots[0]),
              ::testing::StartsWith("a batch with 3 elements was lost: out of memory"));
  EXPECT_EQ(code_of(out.slots[0].value.get<std::exception_ptr>()), ErrorCode::resource_exhausted);
  EXPECT_EQ(out.slots[0].stamp.ordinal, 2);
}

TEST(Batch, IsLostWithAnErrorIfFinishingFails) {
  const auto out = run_difficult(2, {1, 98, 2, 98});
  EXPECT_EQ(out.text(print_batch), "! !");
  EXPECT_EQ(testing::error_text(out.slots[0]), "a batch with 2 elements was lost: 98 cannot be last");
  EXPECT_EQ(run_difficult(5, {1, 98}).text(print_batch), "!");
}

TEST(Batch, OfTensorsTellsWhichShapeDoesNotFit) {
  testing::RecordingEmitter out;
  const auto state = testing::as_stream(batch<Tensor>(3)).open(0);
  state->begin_pass(out);
  for (const std::int64_t size : {3, 3, 4, 3}) state->element(Slot(Element(Tensor(DType::i64, {size})), {}), out);
  ASSERT_EQ(out.slots.size(), 2u);
  EXPECT_EQ(testing::error_text(out.slots[0]),
            "Cannot batch tensors with different shapes in component 0. First element had shape "
            "[3] and element 2 had "
            "shape [4]. Bring them to one shape with a map before batch(), or put them together as they are by "
            "padded_batch() or ragged_batch()");
  EXPECT_EQ(out.slots[1].value.get<Tensor>().shape(), (Shape{3, 3}));
}

// ------------------------------------------------------------------------------------------------
// facts

TEST(Batch, KnowsItsCardinality) {
  testing::expect_cardinalities(batch(4), {{12, 3}, {10, 3}, {0, 0}, {1, 1}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(batch(4, drop), {{12, 3}, {10, 2}, {3, 0}, {INF, INF}, {UNK, UNK}});
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  testing::expect_cardinalities(batch(2), {{most, most / 2 + 1}});
}

TEST(Batch, KnowsItsRowsOnlyWhereNoBatchCanBeSmaller) {
  EXPECT_EQ(testing::leading_dimension(batch(4, drop), {.cardinality = 10}), 4);
  EXPECT_EQ(testing::leading_dimension(batch(4, drop), {.cardinality = UNK}), 4);
  EXPECT_EQ(testing::leading_dimension(batch(4), {.cardinality = INF}), 4);
  EXPECT_EQ(testing::leading_dimension(batch(4), {.cardinality = 12}), UNK);
  EXPECT_EQ(testing::leading_dimension(batch(4), {.cardinality = UNK, .leading_dimension = 4}), UNK);
}

TEST(Batch, HoldsItsSize) { EXPECT_EQ(testing::as_stream(batch(7)).elements_held(), 7); }

TEST(Batch, CannotRunOverPositions) {
  EXPECT_EQ(testing::as_stream(batch(7)).over_index(graph::all_positions(3)), nullptr);
}

TEST(Batch, RefusesSizesBelowOne) {
  EXPECT_ERROR(batch(0), ErrorCode::invalid_argument, "batch_size must be at least 1, but is 0");
  EXPECT_ERROR(batch(-1), ErrorCode::invalid_argument, "batch_size must be at least 1, but is -1");
}

TEST(Batch, PrintsItsSize) {
  EXPECT_EQ(batch(4)->parameters(), "batch_size=4");
  EXPECT_EQ(batch(4, drop)->parameters(), "batch_size=4, drop_remainder");
}

}  // namespace
}  // namespace penstock
