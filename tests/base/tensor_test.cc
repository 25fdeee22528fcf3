#include <gtest/gtest.h>
#include <penstock/tensor.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

Tensor counted(DType type, Shape shape) {
  Tensor tensor(type, std::move(shape));
  for (std::size_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = static_cast<std::byte>(i);
  return tensor;
}

TEST(DType, KnowsItsSizeAndName) {
  EXPECT_EQ(size_of(DType::u8), 1u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(to_string(DType::bf16), "bf16");
  EXPECT_EQ(to_string(DType::f64), "f64");
}

TEST(Tensor, IsEmptyByDefault) {
  const Tensor tensor;
  EXPECT_EQ(tensor.shape(), Shape{0});
  EXPECT_EQ(tensor.bytes(), 0u);
  EXPECT_EQ(tensor.data(), nullptr);
  EXPECT_TRUE(tensor.values<std::uint8_t>().empty());
}

TEST(Tensor, HasAlignedMemoryForItsValues) {
  for (const std::int64_t n : {1, 100, 300'000}) {
    Tensor tensor(DType::f32, {n});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u);
    std::ranges::fill(tensor.values<float>(), 0.5f);
    EXPECT_EQ(tensor.values<float>().back(), 0.5f);
  }
}

TEST(Tensor, RefusesMoreThan2To62Bytes) {
  const std::int64_t most = (std::int64_t{1} << 62) / 8;
  EXPECT_ERROR(Tensor(DType::f64, {most + 1}), ErrorCode::invalid_argument, "2^62");
  EXPECT_THROW(Tensor(DType::f64, {most}), std::bad_alloc);
}

TEST(Tensor, HoldsScalarsAndLists) {
  const Tensor scalar = Tensor::scalar(-7);
  EXPECT_EQ(scalar.rank(), 0u);
  EXPECT_EQ(scalar.values<std::int64_t>()[0], -7);
  const std::vector<std::int64_t> numbers{3, 1, 2};
  const Tensor list = Tensor::of(numbers);
  EXPECT_EQ(list.shape(), Shape{3});
  EXPECT_EQ(list.values<std::int64_t>()[2], 2);
  EXPECT_EQ(Tensor::of({}).size(), 0);
}

TEST(Tensor, IsReadOnlyAsItsOwnType) {
  const Tensor half(DType::bf16, {4});
  EXPECT_EQ(half.values<std::uint16_t>().size(), 4u);
  EXPECT_ERROR(half.values<float>(), ErrorCode::invalid_argument, "bf16");
}

TEST(Tensor, SharesItsMemoryWithCopies) {
  Tensor a = counted(DType::u8, {4});
  const Tensor b = a;
  a.values<std::uint8_t>()[0] = 99;
  EXPECT_EQ(b.values<std::uint8_t>()[0], 99);
}

TEST(Tensor, KeepsForeignMemoryAlive) {
  const auto memory = std::make_shared<std::vector<std::byte>>(8, std::byte{1});
  const std::weak_ptr<std::vector<std::byte>> watch = memory;
  auto tensor = std::make_unique<Tensor>(DType::u8, Shape{8}, std::shared_ptr<std::byte>(memory, memory->data()));
  EXPECT_EQ(watch.use_count(), 2);
  tensor.reset();
  EXPECT_EQ(watch.use_count(), 1);
  EXPECT_ERROR(Tensor(DType::u8, {8}, nullptr), ErrorCode::invalid_argument, "without memory");
}

TEST(TensorRow, IsAViewOfTheSameMemory) {
  const Tensor tensor = counted(DType::u8, {3, 2});
  const Tensor row = tensor.row(2);
  EXPECT_EQ(row.shape(), Shape{2});
  EXPECT_EQ(row.data(), tensor.data() + 4);
  EXPECT_EQ(Tensor::of(std::vector<std::int64_t>{5, 6}).row(1), Tensor::scalar(6));
}

TEST(TensorRow, OfATensorWithoutValuesHasItsShape) {
  const Tensor tensor(DType::f32, {2, 0, 5});
  EXPECT_EQ(tensor.row(1).shape(), (Shape{0, 5}));
}

TEST(TensorRow, MustExist) {
  const Tensor tensor(DType::u8, {3, 2});
  EXPECT_ERROR(tensor.row(3), ErrorCode::invalid_argument, "[3, 2]");
  EXPECT_ERROR(tensor.row(-1), ErrorCode::invalid_argument, "row -1");
  EXPECT_ERROR(Tensor::scalar(1).row(0), ErrorCode::invalid_argument, "rank 0");
}

TEST(Tensor, IsEqualByTypeShapeAndBytes) {
  EXPECT_EQ(counted(DType::u8, {2, 3}), counted(DType::u8, {2, 3}));
  EXPECT_NE(counted(DType::u8, {2, 3}), counted(DType::u8, {3, 2}));
  EXPECT_NE(counted(DType::i32, {2}), counted(DType::f32, {2}));
  EXPECT_NE(Tensor::scalar(1), Tensor::scalar(2));
  EXPECT_EQ(Tensor(DType::u8, {0}), Tensor());
}

TEST(Stack, PutsRowsBehindEachOther) {
  const Tensor tensor = counted(DType::i32, {3, 2});
  const std::vector<Tensor> rows{tensor.row(0), tensor.row(1), tensor.row(2)};
  EXPECT_EQ(stack(rows), tensor);
}

TEST(Stack, OfScalarsIsAList) {
  const std::vector<Tensor> rows{Tensor::scalar(4), Tensor::scalar(5)};
  EXPECT_EQ(stack(rows), Tensor::of(std::vector<std::int64_t>{4, 5}));
}

TEST(Stack, OfTensorsWithoutValuesHasAllRows) {
  const std::vector<Tensor> rows(3, Tensor(DType::f32, {0, 2}));
  EXPECT_EQ(stack(rows).shape(), (Shape{3, 0, 2}));
}

TEST(Stack, RefusesUnequalShapesInTheWordsOfTfData) {
  const std::vector<Tensor> rows{Tensor(DType::u8, {2, 3}), Tensor(DType::u8, {2, 3}), Tensor(DType::u8, {3, 2})};
  EXPECT_ERROR(stack(rows), ErrorCode::invalid_argument,
               "Cannot batch tensors with different shapes in component 0. First element had "
               "shape [2,3] and element 2 had shape [3,2].");
}

TEST(Stack, RefusesUnequalTypesAndNothing) {
  const std::vector<Tensor> rows{Tensor(DType::u8, {2}), Tensor(DType::f32, {2})};
  EXPECT_ERROR(stack(rows), ErrorCode::invalid_argument, "different types in component 0");
  EXPECT_ERROR(stack({}), ErrorCode::invalid_argument, "zero tensors");
}

}  // namespace
}  // namespace penstock
