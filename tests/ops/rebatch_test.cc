#include <penstock/ops.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::UNK;

using Numbers = std::vector<std::int64_t>;

template <class T = Numbers> OpRef cut(const std::vector<std::int64_t>& sizes, BatchOptions options = {}) {
  return ops::rebatch(sizes, std::make_shared<detail::TypedRowQueueFactory<T>>(), options);
}

std::string print_cut(const Element& element) {
  std::string text = "[";
  for (const std::int64_t number : element.get<Numbers>())
    text += (text.size() > 1 ? " " : "") + std::to_string(number);
  return text + "]";
}

// Batches of the given numbers of rows, which count from 0; -1: an error.
std::string rebatched(const OpRef& op, const std::vector<std::int64_t>& batches) {
  testing::StreamRun run(op);
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  std::int64_t next = 0;
  Stamp stamp;
  for (const std::int64_t rows : batches) {
    Numbers batch;
    for (std::int64_t i = 0; i < rows; ++i) batch.push_back(next++);
    if (rows < 0) run.state().error(testing::error_slot(stamp), out);
    if (rows >= 0) run.state().element(testing::element_slot(Element(batch), stamp), out);
    ++stamp.ordinal;
  }
  run.end_pass(out);
  return out.text(print_cut);
}

// RB-1 to RB-3 of tf.data's own tests.
TEST(Rebatch, CutsBatchesAnew) {
  EXPECT_EQ(rebatched(cut({2, 2}), {4, 4}), "[0 1] [2 3] [4 5] [6 7]");
  EXPECT_EQ(rebatched(cut({2, 2}), {4, 1}), "[0 1] [2 3] [4]");
  EXPECT_EQ(rebatched(cut({2, 2}, {.drop_remainder = true}), {4, 1}), "[0 1] [2 3]");
  EXPECT_EQ(rebatched(cut({6}), {4, 4, 4}), "[0 1 2 3 4 5] [6 7 8 9 10 11]");
}

TEST(Rebatch, UsesEachSizeInTurn) { EXPECT_EQ(rebatched(cut({2, 1, 3}), {10}), "[0 1] [2] [3 4 5] [6 7] [8] [9]"); }

TEST(Rebatch, OfNothingIsNone) {
  EXPECT_EQ(rebatched(cut({2}), {}), "");
  EXPECT_EQ(rebatched(cut({2}), {0, 0}), "");
}

TEST(Rebatch, LetsErrorsPassAtOnce) { EXPECT_EQ(rebatched(cut({3}), {2, -1, 2, -1}), "x1 [0 1 2] x3 [3]"); }

TEST(Rebatch, BeginsAnewInEachPass) {
  testing::StreamRun passes(cut({2, 3}));
  for (int pass = 0; pass < 2; ++pass) {
    testing::RecordingEmitter out;
    passes.state().begin_pass(out);
    passes.state().element(testing::element_slot(Element(Numbers{0, 1, 2}), {}), out);
    passes.end_pass(out);
    EXPECT_EQ(out.text(print_cut), "[0 1] [2]");
  }
}

// A row may be a view, by which all of its batch is held.
TEST(Rebatch, CountsABatchUntilItsLastRowHasGone) {
  testing::StreamRun passes(cut({4}));
  testing::RecordingEmitter out;
  passes.state().begin_pass(out);
  std::vector<std::int64_t> held;
  for (int i = 0; i < 3; ++i) {
    passes.state().element(testing::element_slot(Element(Numbers{0, 1, 2}), {}, 300 + sizeof(Slot)), out);
    held.push_back(passes.state().held_bytes());
  }
  EXPECT_EQ(held, (std::vector<std::int64_t>{300, 300, 300}));
  passes.end_pass(out);
  EXPECT_EQ(passes.state().held_bytes(), 0);
}

// Rows are views of the batches that came; each is copied once.
TEST(Rebatch, OfTensorsIsATensor) {
  testing::StreamRun passes(cut<Tensor>({2}));
  testing::RecordingEmitter out;
  passes.state().begin_pass(out);
  for (const std::int64_t first : {0, 3}) {
    const Tensor batch = Tensor::of(std::vector<std::int64_t>{first, first + 1, first + 2});
    passes.state().element(testing::element_slot(Element(batch), {}), out);
  }
  ASSERT_EQ(out.slots.size(), 3u);
  EXPECT_EQ(out.slots[1].value.get<Tensor>(), Tensor::of(std::vector<std::int64_t>{2, 3}));
}

TEST(Rebatch, OfRowsThatDoNotFitSaysSo) {
  testing::StreamRun passes(cut<Tensor>({2}));
  testing::RecordingEmitter out;
  passes.state().begin_pass(out);
  const auto take = [&](std::int64_t width) {
    passes.state().element(testing::element_slot(Element(Tensor(DType::i64, {1, width})), {}), out);
  };
  take(1);
  EXPECT_ERROR(take(2), ErrorCode::invalid_argument, "different shapes");
  take(3);
  take(3);
  EXPECT_EQ(out.slots.size(), 1u) << "those that come next go on without them";
}

TEST(Rebatch, KnowsOnlyThatAnEndlessInputHasEndlesslyManyBatches) {
  testing::expect_cardinalities(cut({2}), {{10, UNK}, {0, UNK}, {INF, INF}, {UNK, UNK}});
  EXPECT_EQ(testing::leading_dimension(cut({4, 4}, {.drop_remainder = true}), {.cardinality = 9}), 4);
  EXPECT_EQ(testing::leading_dimension(cut({4, 3}, {.drop_remainder = true}), {.cardinality = 9}), UNK);
  EXPECT_EQ(testing::leading_dimension(cut({4}), {.cardinality = 9}), UNK);
}

TEST(Rebatch, RefusesBatchesOfNothing) {
  EXPECT_ERROR(cut({2, 0}), ErrorCode::invalid_argument, "batch_size must be at least 1, but is 0");
  EXPECT_ERROR(cut({}), ErrorCode::invalid_argument, "batch_sizes is empty; give at least one size");
}

TEST(Rebatch, PrintsItsSizes) {
  EXPECT_EQ(cut({2})->parameters(), "batch_size=2");
  EXPECT_EQ(cut({2, 3}, {.drop_remainder = true})->parameters(), "batch_sizes=2 3, drop_remainder");
}

}  // namespace
}  // namespace penstock
