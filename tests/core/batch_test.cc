#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/batch.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

struct Opaque {
  std::int64_t words[3];
  std::shared_ptr<int> hidden = {};
};

struct Picture {
  Tensor image;
  std::int32_t label = 0;
  std::string file;
};

struct Labelled {
  Opaque what;
  int label;
};

}  // namespace

template <> struct Fields<Picture> {
  static constexpr auto value = std::tuple{&Picture::image, &Picture::label, &Picture::file};
};
template <> struct Fields<Labelled> { static constexpr auto value = std::tuple{&Labelled::what, &Labelled::label}; };

namespace {

Tensor row_of(std::vector<std::int64_t> values) { return Tensor::of(values); }

std::vector<std::int64_t> values_of(const Tensor& tensor) {
  const auto values = tensor.values<std::int64_t>();
  return {values.begin(), values.end()};
}

Tensor collate(std::size_t capacity, const std::vector<Tensor>& rows) {
  Collate<Tensor>::Builder builder(capacity);
  for (const Tensor& row : rows) {
    builder.check(row);
    builder.add(row);
  }
  return builder.finish();
}

TEST(TensorBatch, IsOneTensorOfARankMore) {
  const Tensor batch = collate(2, {row_of({1, 2, 3}), row_of({4, 5, 6})});
  EXPECT_EQ(batch.shape(), (Shape{2, 3}));
  EXPECT_THAT(values_of(batch), ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(collate(3, {Tensor::scalar(7)}).shape(), Shape{1});
}

TEST(TensorBatch, ThatIsNotFullHasOnlyItsOwnRows) {
  const Tensor batch = collate(100, {row_of({1, 2}), row_of({3, 4})});
  EXPECT_EQ(batch.shape(), (Shape{2, 2}));
  EXPECT_EQ(batch.bytes(), 32u);
  EXPECT_THAT(values_of(batch), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST(TensorBatch, OfAHugeCapacityGrowsWithItsRows) {
  // 9 MB a row: a thousand thousand millions of them are never allocated, the first eight rows fit
  // without growing.
  const Tensor row(DType::u8, {1024, 1024, 9});
  Collate<Tensor>::Builder builder(1'000'000'000'000);
  builder.add(row);
  EXPECT_EQ(builder.finish().shape(), (Shape{1, 1024, 1024, 9}));
}

TEST(TensorBatch, OfLargeRowsTakesMemoryForThoseThatCome) {
  // A thousand of them are 62 GiB.
  const Tensor row(DType::u8, {64, 1024, 1024});
  Collate<Tensor>::Builder builder(1000);
  builder.add(row);
  builder.add(row);
  EXPECT_EQ(builder.finish().shape(), (Shape{2, 64, 1024, 1024}));
}

TEST(TensorBatch, KeepsItsRowsWhenItGrows) {
  constexpr std::int64_t words = 64 * 1024;  // 512 KiB a row, so that memory is taken several times
  Collate<Tensor>::Builder builder(100'000);
  for (std::int64_t i = 0; i < 300; ++i) {
    Tensor row(DType::i64, {words});
    std::ranges::fill(row.values<std::int64_t>(), i);
    builder.add(row);
  }
  const Tensor batch = builder.finish();
  ASSERT_EQ(batch.shape(), (Shape{300, words}));
  for (std::int64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(batch.row(i).values<std::int64_t>().front(), i);
    EXPECT_EQ(batch.row(i).values<std::int64_t>().back(), i);
  }
}

TEST(TensorBatch, OfRowsWithoutValuesNeedsNoMemory) {
  const Tensor batch = collate(1'000'000'000'000, {Tensor(DType::f32, {0, 4}), Tensor(DType::f32, {0, 4})});
  EXPECT_EQ(batch.shape(), (Shape{2, 0, 4}));
}

TEST(TensorBatch, RefusesAnotherShapeInTensorFlowsWords) {
  Collate<Tensor>::Builder builder(3);
  builder.add(Tensor(DType::f32, {2, 3}));
  builder.add(Tensor(DType::f32, {2, 3}));
  EXPECT_ERROR(builder.check(Tensor(DType::f32, {3, 2})), ErrorCode::invalid_argument,
               "Cannot batch tensors with different shapes in component 0. First element had shape "
               "[2,3] and element 2 had "
               "shape [3,2].");
  EXPECT_NO_THROW(builder.check(Tensor(DType::f32, {2, 3})));
}

TEST(TensorBatch, RefusesAnotherType) {
  Collate<Tensor>::Builder builder(3);
  builder.add(Tensor(DType::f32, {2}));
  EXPECT_ERROR(builder.check(Tensor(DType::u8, {2})), ErrorCode::invalid_argument,
               "Cannot batch tensors with different types in component 0. First element had type "
               "f32 and element 1 had type "
               "u8.");
}

TEST(Batch, OfOtherValuesIsAVector) {
  Collate<std::string>::Builder builder(2);
  builder.add("a");
  builder.add("b");
  EXPECT_THAT(builder.finish(), ::testing::ElementsAre("a", "b"));
}

Batch<Picture> two_pictures() {
  Collate<Picture>::Builder builder(2);
  builder.add({row_of({1, 2}), 7, "a"});
  builder.add({row_of({3, 4}), 8, "b"});
  return builder.finish();
}

TEST(StructBatch, HasAColumnForEachField) {
  const Batch<Picture> batch = two_pictures();
  EXPECT_EQ(batch.size(), 2);
  EXPECT_EQ(batch.column<&Picture::image>().shape(), (Shape{2, 2}));
  EXPECT_THAT(batch.column<&Picture::label>(), ::testing::ElementsAre(7, 8));
  EXPECT_THAT(batch.column<&Picture::file>(), ::testing::ElementsAre("a", "b"));
}

TEST(StructBatch, RefusesAnElementWithAMisfittingField) {
  Collate<Picture>::Builder builder(2);
  builder.add({row_of({1, 2}), 7, "a"});
  EXPECT_ERROR(builder.check({row_of({1}), 7, "a"}), ErrorCode::invalid_argument,
               "had shape [2] and element 1 had shape [1]");
}

TEST(StructBatch, HoldsTheBytesOfItsColumns) {
  const Batch<Picture> batch = two_pictures();
  EXPECT_EQ(bytes_of(batch), bytes_of(batch.column<&Picture::image>()) + bytes_of(batch.column<&Picture::label>()) +
                                 bytes_of(batch.column<&Picture::file>()));
  EXPECT_GE(bytes_of(batch), 4 * sizeof(std::int64_t) + 2 * sizeof(std::int32_t));
}

TEST(StructBatch, KnowsItsBytesIfItsColumnsDo) {
  EXPECT_TRUE(bytes_known<Batch<Picture>>);
  EXPECT_FALSE(has_fixed_bytes<Batch<Picture>>);
  EXPECT_FALSE(bytes_known<Batch<Labelled>>);
}

TEST(Unbatch, OfATensorGivesViewsOfItsRows) {
  Tensor batch = collate(2, {row_of({1, 2}), row_of({3, 4})});
  const std::vector<Tensor> rows = Unbatch<Tensor>::apart(batch);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(values_of(rows[1]), ::testing::ElementsAre(3, 4));
  EXPECT_EQ(rows[1].data(), batch.data() + 2 * sizeof(std::int64_t));
  EXPECT_TRUE(Unbatch<Tensor>::apart(Tensor(DType::u8, {0, 4})).empty());
}

TEST(Unbatch, OfAScalarFailsInTensorFlowsWords) {
  EXPECT_ERROR(Unbatch<Tensor>::apart(Tensor::scalar(1)), ErrorCode::invalid_argument,
               "Input element must have a non-scalar value in each component.");
}

TEST(Unbatch, OfAStructBatchIsItsElements) {
  const std::vector<Picture> rows = Unbatch<Batch<Picture>>::apart(two_pictures());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(values_of(rows[0].image), ::testing::ElementsAre(1, 2));
  EXPECT_EQ(rows[1].label, 8);
  EXPECT_EQ(rows[1].file, "b");
}

TEST(Unbatch, RefusesColumnsOfDifferentLengths) {
  Batch<Picture> batch = two_pictures();
  batch.column<&Picture::label>().push_back(9);
  EXPECT_ERROR(Unbatch<Batch<Picture>>::apart(std::move(batch)), ErrorCode::invalid_argument,
               "Input element must have the same batch size in each component. Component 0 had "
               "size 2 but component 1 had "
               "size, 3.");
}

TEST(Stack, PutsTensorsTogether) {
  const std::vector<Tensor> rows{row_of({1, 2}), row_of({3, 4})};
  EXPECT_EQ(stack(rows), collate(2, rows));
  EXPECT_ERROR(stack({}), ErrorCode::invalid_argument, "cannot stack zero tensors");
}

}  // namespace
}  // namespace penstock
