#include <penstock/penstock.h>

#include <string>
#include <vector>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::StreamRun;
using testing::UNK;

using Numbered = std::vector<std::int64_t>;
using NumberedOptions = PaddedBatchOptions<Numbered>;

OpRef fill_up(std::int64_t size, const NumberedOptions& options = {}) {
  const Padding padding = detail::padding_of<Numbered>(options.padded_shapes, options.padding_values);
  const auto factory = std::make_shared<detail::TypedBatchFactory<Numbered, PaddedCollate<Numbered>, Padding>>(padding);
  return ops::padded_batch(size, factory, padding, options.drop_remainder);
}

// "[1 0;2 2]"
std::string print_padded(const Element& element) {
  const auto& batch = element.get<Tensor>();
  std::string text = "[";
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) {
    text += i == 0 ? "" : ";";
    const Tensor row = batch.row(i);
    for (const std::int64_t number : row.values<std::int64_t>())
      text += (text.ends_with("[") || text.ends_with(";") ? "" : " ") + std::to_string(number);
  }
  return text + "]";
}

// An empty row is an error.
std::string run_padded(const OpRef& op, const std::vector<Numbered>& rows) {
  StreamRun run(op);
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  Stamp stamp;
  for (const Numbered& row : rows) {
    if (row.empty()) run.state().error(testing::error_slot(stamp), out);
    if (!row.empty()) run.state().element(testing::element_slot(Element(row), stamp), out);
    ++stamp.ordinal;
  }
  run.end_pass(out);
  return out.text(print_padded);
}

const std::vector<Numbered> kPairs{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}};
const std::vector<Numbered> kMixed{{0, 1}, {2, 3}, {4, 5}, {6}, {7}, {8}, {9}};
std::vector<Numbered> copies_of_themselves() {
  std::vector<Numbered> rows;
  for (std::int64_t x = 1; x <= 4; ++x) rows.emplace_back(static_cast<std::size_t>(x), x);
  return rows;
}

// P-01, P-02, P-06 of tf.data's own tests.
TEST(PaddedBatchOp, FillsUpAsTensorFlowDoes) {
  const NumberedOptions to_three{.padded_shapes = {3}, .padding_values = 1, .drop_remainder = true};
  EXPECT_EQ(run_padded(fill_up(2, to_three), kPairs), "[0 1 1;2 3 1] [4 5 1;6 7 1] [8 9 1;10 11 1]");
  EXPECT_EQ(run_padded(fill_up(2, to_three), kMixed), "[0 1 1;2 3 1] [4 5 1;6 1 1] [7 1 1;8 1 1]");
  EXPECT_EQ(run_padded(fill_up(2, {.padded_shapes = {3}, .padding_values = 1}), kMixed),
            "[0 1 1;2 3 1] [4 5 1;6 1 1] [7 1 1;8 1 1] [9 1 1]");
}

TEST(PaddedBatchOp, PadsEachBatchToItsLongestElement) {
  EXPECT_EQ(run_padded(fill_up(2), copies_of_themselves()), "[1 0;2 2] [3 3 3 0;4 4 4 4]");
  EXPECT_EQ(run_padded(fill_up(2, {.padded_shapes = {5}}), copies_of_themselves()),
            "[1 0 0 0 0;2 2 0 0 0] [3 3 3 0 0;4 4 4 4 0]");
  EXPECT_EQ(run_padded(fill_up(2, {.padded_shapes = {5}, .padding_values = -1}), copies_of_themselves()),
            "[1 -1 -1 -1 -1;2 2 -1 -1 -1] [3 3 3 -1 -1;4 4 4 4 -1]");
}

// P-04, but for what happens to the neighbours.
TEST(PaddedBatchOp, ReportsAnElementThatIsTooLongInItsPlaceAndGoesOn) {
  EXPECT_EQ(run_padded(fill_up(2, {.padded_shapes = {2}}), copies_of_themselves()), "[1 0;2 2] ! !");
  EXPECT_EQ(run_padded(fill_up(2, {.padded_shapes = {1}}), {{1}, {2, 2}, {}, {3}}), "! x2 [1;3]");
}

TEST(PaddedBatchOp, OfNothingIsNothing) { EXPECT_EQ(run_padded(fill_up(2), {}), ""); }

TEST(PaddedBatchOp, KnowsItsCountAndRowsAsBatchDoes) {
  testing::expect_cardinalities(fill_up(3), {{7, 3}, {0, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(fill_up(3, {.drop_remainder = true}), {{7, 2}, {9, 3}});
  EXPECT_EQ(fill_up(3)->flow({.cardinality = 9}).leading_dimension, UNK);
  EXPECT_EQ(fill_up(3)->flow({.cardinality = INF}).leading_dimension, 3);
  EXPECT_EQ(fill_up(3, {.drop_remainder = true})->flow({.cardinality = UNK}).leading_dimension, 3);
}

TEST(PaddedBatchOp, PrintsWhatDecidesItsElements) {
  EXPECT_EQ(fill_up(3)->parameters(), "batch_size=3");
  EXPECT_EQ(fill_up(3, {.padded_shapes = {5}, .padding_values = -1, .drop_remainder = true})->parameters(),
            "batch_size=3, drop_remainder, padded_shapes=[5], padding_values=-1");
}

// P-07, as far as types do not refuse it.
TEST(PaddedBatchOp, RefusesWrongArguments) {
  EXPECT_ERROR(fill_up(-1), ErrorCode::invalid_argument, "batch_size must be at least 1, but is -1");
  EXPECT_ERROR(fill_up(1, {.padding_values = "a"}), ErrorCode::invalid_argument, "'a', which i64 cannot hold");
  EXPECT_ERROR(fill_up(1, {.padded_shapes = {1, 2}}), ErrorCode::invalid_argument, "must have rank 1");
}

}  // namespace
}  // namespace penstock
