#include <penstock/ragged_batch.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

struct Line {
  std::vector<float> points;
  std::int32_t label = 0;
};

}  // namespace

template <> struct Fields<Line> { static constexpr auto value = std::tuple{&Line::points, &Line::label}; };

namespace {

using ::testing::ElementsAre;

template <class T> RaggedBatch<T> ragged(const std::vector<T>& rows) {
  typename RaggedCollate<T>::Builder builder(rows.size());
  for (const T& row : rows) {
    builder.check(row);
    builder.add(row);
  }
  return builder.finish();
}

template <class V> std::vector<V> all_of(const Tensor& tensor) {
  const auto values = tensor.values<V>();
  return {values.begin(), values.end()};
}

Tensor numbers_of_shape(const Shape& shape, std::int64_t first) {
  Tensor tensor(DType::i64, shape);
  const auto values = tensor.values<std::int64_t>();
  std::iota(values.begin(), values.end(), first);
  return tensor;
}

TEST(RaggedBatch, HasRowsOneBehindTheOther) {
  const auto batch = ragged<std::vector<float>>({{1, 2}, {}, {3}});
  EXPECT_THAT(all_of<float>(batch.values), ElementsAre(1, 2, 3));
  EXPECT_THAT(batch.row_splits, ElementsAre(0, 2, 2, 3));
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(ragged<std::vector<float>>({{}, {}}).values.shape(), Shape{0});
}

TEST(RaggedBatch, OfTensorsDiffersInTheirFirstDimension) {
  const auto batch = ragged<Tensor>({numbers_of_shape({2, 2}, 0), numbers_of_shape({1, 2}, 7)});
  EXPECT_EQ(batch.values.shape(), (Shape{3, 2}));
  EXPECT_THAT(all_of<std::int64_t>(batch.values), ElementsAre(0, 1, 2, 3, 7, 8));
  EXPECT_THAT(batch.row_splits, ElementsAre(0, 2, 3));
  EXPECT_EQ((ragged<std::vector<std::array<float, 4>>>({{{1, 2, 3, 4}}, {}}).values.shape()), (Shape{1, 4}));
}

TEST(RaggedBatch, OfOtherVectorsIsAVectorOfAllValues) {
  const auto batch = ragged<std::vector<std::string>>({{"a"}, {"b", "c"}});
  EXPECT_THAT(batch.values, ElementsAre("a", "b", "c"));
  EXPECT_THAT(batch.row_splits, ElementsAre(0, 1, 3));
}

TEST(RaggedBatch, OfAStructHasAColumnForEachField) {
  const RaggedBatch<Line> batch = ragged<Line>({{{1, 2}, 7}, {{3}, 8}});
  EXPECT_THAT(batch.column<&Line::points>().row_splits, ElementsAre(0, 2, 3));
  EXPECT_THAT(batch.column<&Line::label>(), ElementsAre(7, 8));
  EXPECT_TRUE(bytes_known<RaggedBatch<Line>>);
  EXPECT_EQ(bytes_of(batch.column<&Line::points>()),
            3 * sizeof(float) + batch.column<&Line::points>().row_splits.capacity() * sizeof(std::int64_t));
}

TEST(RaggedBatch, RefusesWhatDiffersInMore) {
  RaggedCollate<Tensor>::Builder builder(2);
  EXPECT_ERROR(builder.check(Tensor::scalar(1)), ErrorCode::invalid_argument, "a tensor of rank 0 has no length");
  builder.add(numbers_of_shape({2, 3}, 0));
  EXPECT_NO_THROW(builder.check(numbers_of_shape({5, 3}, 0)));
  for (const Shape& shape : {Shape{2, 4}, Shape{2}, Shape{2, 3, 1}})
    EXPECT_ERROR(builder.check(numbers_of_shape(shape, 0)), ErrorCode::invalid_argument,
                 "rows of a ragged batch may differ in dimension 0 alone. First element had shape [2, 3] and element 1 "
                 "had shape " +
                     to_string(shape));
  EXPECT_ERROR(builder.check(Tensor(DType::u8, {2, 3})), ErrorCode::invalid_argument,
               "First element had type i64 and element 1 had type u8");
}

TEST(RaggedBatch, OfEmptyRowsCannotBeLongerThanNumbersAre) {
  const Tensor longest(DType::f64, {std::numeric_limits<std::int64_t>::max(), 0});
  EXPECT_EQ(ragged<Tensor>({longest}).values.shape(), longest.shape());
  EXPECT_ERROR(ragged<Tensor>({longest, longest}), ErrorCode::invalid_argument, "longer than 2^63 - 1 together");
}

TEST(RaggedBatch, OfNothingHasNoRows) {
  Ragged<Tensor> batch;
  EXPECT_EQ(batch.size(), 0);
  EXPECT_TRUE(Unbatch<Ragged<Tensor>>::apart(batch).empty());
  const Ragged<Tensor> taken = std::move(batch);
  EXPECT_EQ(batch.size(), 0);  // NOLINT: what is left of it
}

TEST(RaggedBatch, DoesNotComeApartWhereItHasNoValues) {
  const std::vector<std::vector<std::int64_t>> wrong{{}, {3}, {0, 2}, {0, 2, 9}, {1, 3}, {0, 4, 3}, {0, -1, 3}};
  for (const auto& row_splits : wrong) {
    EXPECT_ERROR((Unbatch<Ragged<Tensor>>::apart({Tensor(DType::u8, {3}), row_splits})), ErrorCode::invalid_argument,
                 "must begin with 0, never fall, and end with the number of its values, 3");
    EXPECT_ERROR((Unbatch<Ragged<std::vector<std::string>>>::apart({{"a", "b", "c"}, row_splits})),
                 ErrorCode::invalid_argument, "must begin with 0");
  }
  EXPECT_ERROR((Unbatch<Ragged<Tensor>>::apart({Tensor::scalar(1), {0, 0}})), ErrorCode::invalid_argument,
               "have rank 0");
}

TEST(RaggedBatch, ComesApartAgain) {
  const auto batch =
      ragged<Tensor>({numbers_of_shape({2, 2}, 0), numbers_of_shape({0, 2}, 0), numbers_of_shape({1, 2}, 7)});
  const std::vector<Tensor> rows = Unbatch<Ragged<Tensor>>::apart(batch);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], numbers_of_shape({2, 2}, 0));
  EXPECT_EQ(rows[1].shape(), (Shape{0, 2}));
  EXPECT_EQ(rows[2], numbers_of_shape({1, 2}, 7));
  EXPECT_EQ(rows[2].data(), batch.values.data() + 4 * sizeof(std::int64_t)) << "copied";
  using Words = Ragged<std::vector<std::string>>;
  EXPECT_THAT(Unbatch<Words>::apart(ragged<std::vector<std::string>>({{"a"}, {}, {"b", "c"}})),
              ElementsAre(ElementsAre("a"), ElementsAre(), ElementsAre("b", "c")));
}

}  // namespace
}  // namespace penstock
