// Columns of a batch of structs, as tensors and all at once.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace columns {
struct Base {
  double weight = 0;
};
struct Row : Base {
  penstock::Tensor image;
  std::int32_t label = 0;
  std::array<float, 4> box{};
  bool crowd = false;
  std::string file;
};
}  // namespace columns

template <> struct penstock::Fields<columns::Row> {
  using Row = columns::Row;
  static constexpr auto value = std::tuple{&Row::image, &Row::label, &Row::box, &Row::crowd, &Row::file, &Row::weight};
};

namespace penstock {
namespace {

using columns::Row;

Batch<Row> batch_of_two() {
  const auto data = range(2)
                        .map([](std::int64_t i) {
                          Row row;
                          row.image = Tensor(DType::u8, {3});
                          for (auto& value : row.image.values<std::uint8_t>()) value = static_cast<std::uint8_t>(i);
                          row.label = static_cast<std::int32_t>(10 + i);
                          row.box = {0, 1, 2, static_cast<float>(i)};
                          row.crowd = i == 1;
                          row.file = "f" + std::to_string(i);
                          row.weight = 0.5;
                          return row;
                        })
                        .batch(2);
  return std::move(*data.start().next());
}

template <class V> std::vector<V> values_of(const Tensor& tensor) {
  const auto values = tensor.values<V>();
  return {values.begin(), values.end()};
}

TEST(Columns, OfNumbersAreTensors) {
  const Batch<Row> batch = batch_of_two();
  const Tensor labels = batch.tensor<&Row::label>();
  EXPECT_EQ(labels.dtype(), DType::i32);
  EXPECT_EQ(labels.shape(), (Shape{2}));
  EXPECT_EQ(values_of<std::int32_t>(labels), (std::vector<std::int32_t>{10, 11}));
  EXPECT_EQ(values_of<std::uint8_t>(batch.tensor<&Row::crowd>()), (std::vector<std::uint8_t>{0, 1}));
}

TEST(Columns, OfArraysHaveARowForEach) {
  const Tensor boxes = batch_of_two().tensor<&Row::box>();
  EXPECT_EQ(boxes.shape(), (Shape{2, 4}));
  EXPECT_EQ(values_of<float>(boxes), (std::vector<float>{0, 1, 2, 0, 0, 1, 2, 1}));
}

TEST(Columns, OfTensorsAreTheSameMemory) {
  const Batch<Row> batch = batch_of_two();
  EXPECT_EQ(batch.tensor<&Row::image>().data(), batch.column<&Row::image>().data());
}

TEST(Columns, OfAMemberOfABaseAreThere) {
  const Batch<Row> batch = batch_of_two();
  EXPECT_EQ(batch.column<&Row::weight>(), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(batch.tensor<&Row::weight>().dtype(), DType::f64);
}

TEST(Columns, OfNoRowsAreTensorsOfNone) {
  const Batch<Row> none;
  EXPECT_EQ(none.tensor<&Row::label>().shape(), (Shape{0}));
  EXPECT_EQ(none.tensor<&Row::box>().shape(), (Shape{0, 4}));
}

// They have no columns, but the rows themselves.
TEST(Rows, OfAStructWithoutFieldsAreAVectorOfIt) {
  struct Plain {
    std::int64_t value = 0;
  };
  const auto data = range(5).map([](std::int64_t x) { return Plain{x}; }).batch(2);
  const auto sum_of = [](const std::vector<Plain>& rows) {
    std::int64_t sum = 0;
    for (const Plain& row : rows) sum += row.value;
    return sum;
  };
  std::vector<std::int64_t> sums;
  for (std::int64_t each : data.map(sum_of)) sums.push_back(each);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{1, 5, 4}));
  EXPECT_EQ(data.unbatch().start().next()->value, 0);
  static_assert(std::is_same_v<Batch<Plain>, Rows<Plain>>);
  static_assert(std::is_same_v<Batch<std::string>, std::vector<std::string>>);
  static_assert(std::is_same_v<Batch<std::shared_ptr<Plain>>, std::vector<std::shared_ptr<Plain>>>);
  static_assert(std::is_same_v<Batch<std::pair<int, Plain>>, std::vector<std::pair<int, Plain>>>);
}

TEST(Rows, CountAsTheirVectorDoes) {
  struct Plain {
    std::int64_t values[4] = {};
  };
  const Batch<Plain> rows(3);
  EXPECT_EQ(bytes_of(rows), bytes_of(std::vector<Plain>(3)));
}

TEST(Columns, AreTakenTogetherInTheOrderOfFields) {
  Batch<Row> batch = batch_of_two();
  auto& [images, labels, boxes, crowds, files, weights] = batch.columns();
  EXPECT_EQ(images.shape(), (Shape{2, 3}));
  EXPECT_EQ(files, (std::vector<std::string>{"f0", "f1"}));
}

}  // namespace
}  // namespace penstock
