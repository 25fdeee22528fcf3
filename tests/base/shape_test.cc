#include <gtest/gtest.h>
#include <penstock/shape.h>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using List = std::vector<std::int64_t>;

List sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

TEST(Shape, IsPrintedAsAList) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{375, 500, 3}), "[375, 500, 3]");
}

TEST(Shape, HoldsWhatItIsMadeOf) {
  const List list{4, 5, 6};
  EXPECT_EQ(Shape().size(), 0u);
  EXPECT_TRUE(Shape().empty());
  EXPECT_EQ(sizes_of({4, 5, 6}), list);
  EXPECT_EQ(sizes_of(list), list);
  EXPECT_EQ(sizes_of(Shape(list.begin() + 1, list.end())), (List{5, 6}));
  EXPECT_EQ(Shape(list).front(), 4);
  EXPECT_EQ(Shape(list).back(), 6);
}

TEST(Shape, BecomesAVectorWhereOneSaysSo) {
  EXPECT_EQ(List(Shape{375, 500, 3}), (List{375, 500, 3}));
  EXPECT_EQ(static_cast<List>(Shape{1, 2, 3, 4, 5, 6, 7}), (List{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(List(Shape()), List());
  static_assert(!std::is_convertible_v<Shape, List>);
}

TEST(Shape, IsEqualByItsDimensions) {
  EXPECT_EQ(Shape(), Shape{});
  EXPECT_EQ((Shape{1, 2}), (Shape{1, 2}));
  EXPECT_NE((Shape{1, 2}), (Shape{2, 1}));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 2, 1}));
  EXPECT_NE(Shape(), Shape{0});
}

TEST(Shape, CopiesShareNothing) {
  for (const Shape& original : {Shape{1, 2, 3}, Shape{1, 2, 3, 4, 5, 6, 7, 8}}) {
    Shape copy = original;
    copy[1] = 9;
    EXPECT_EQ(original[1], 2);
    EXPECT_EQ(copy[1], 9);
    copy = original;
    EXPECT_EQ(copy, original);
    Shape& same = copy;
    copy = same;
    EXPECT_EQ(copy, original);
  }
}

TEST(Shape, IsOfRankZeroAfterItWasMovedFrom) {
  for (const List& list : {List{1, 2, 3}, List{1, 2, 3, 4, 5, 6, 7, 8}}) {
    Shape from(list);
    Shape to(std::move(from));
    EXPECT_EQ(sizes_of(to), list);
    EXPECT_TRUE(from.empty());  // NOLINT: what the header promises
    from = {7};
    EXPECT_EQ(sizes_of(from), List{7});
    from = std::move(to);
    EXPECT_EQ(sizes_of(from), list);
  }
}

TEST(Shape, TakesLessAfterMore) {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  shape = {3, 4};
  EXPECT_EQ(sizes_of(shape), (List{3, 4}));
  shape.resize(9);
  EXPECT_EQ(sizes_of(shape), (List{3, 4, 0, 0, 0, 0, 0, 0, 0}));
}

// The oracle is std::vector: each step is done to both, over the border between inside and outside.
TEST(Shape, ChangesAsAVectorDoes) {
  Shape shape;
  List list;
  for (std::int64_t step = 0; step < 400; ++step) {
    const auto place =
        static_cast<std::ptrdiff_t>(list.empty() ? 0 : step * 7 % static_cast<std::int64_t>(list.size() + 1));
    if (step % 40 < 20) {
      EXPECT_EQ(*shape.insert(shape.begin() + place, step), step);
      list.insert(list.begin() + place, step);
    } else if (step % 40 < 36 && place < static_cast<std::ptrdiff_t>(list.size())) {
      EXPECT_EQ(shape.erase(shape.begin() + place) - shape.begin(), place);
      list.erase(list.begin() + place);
    } else if (step % 40 < 38) {
      shape.resize(list.size() + 2);
      list.resize(list.size() + 2);
    } else if (step % 120 == 119) {
      shape.clear();
      list.clear();
    } else {
      shape.push_back(step);
      list.push_back(step);
    }
    ASSERT_EQ(sizes_of(shape), list) << "after step " << step;
  }
}

TEST(ElementCount, IsTheProductOfTheDimensions) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({5, 0}), 0);
}

TEST(ElementCount, RefusesOverflowAndNegativeDimensions) {
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_ERROR(element_count({big, big}), ErrorCode::invalid_argument, "[4294967296, 4294967296]");
  EXPECT_ERROR(element_count({0, -1}), ErrorCode::invalid_argument, "negative");
  EXPECT_EQ(element_count({big, big, 0}), 0);
}

}  // namespace
}  // namespace penstock
