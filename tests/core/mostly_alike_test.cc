#include "lib/core/mostly_alike.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>

namespace penstock {
namespace {

TEST(MostlyAlike, TakesNoMemoryForWhatIsAlike) {
  MostlyAlike<int> list;
  for (std::size_t i = 0; i < 5000; ++i) list.push_back(7, i);
  EXPECT_EQ(list.bytes(), 0u);
  EXPECT_EQ(list.back(), 7);
}

TEST(MostlyAlike, KeepsEachFromTheFirstOnThatDiffers) {
  MostlyAlike<int> list;
  for (std::size_t i = 0; i < 5; ++i) list.push_back(i == 3 ? 8 : 7, i);
  EXPECT_EQ(list.bytes(), 5 * sizeof(int));
  list.swap(0, 3);
  EXPECT_EQ(list.back(), 7);
  list.shorten(1);
  EXPECT_EQ(list.back(), 8);
}

TEST(MostlyAlike, BeginsAnewWhenItIsEmpty) {
  MostlyAlike<int> list;
  list.push_back(1, 0);
  list.push_back(2, 1);
  list.shorten(0);
  list.push_back(3, 0);
  EXPECT_EQ(list.back(), 3);
  EXPECT_EQ(list.bytes(), 0u);
}

// Its copies fail after the number that is left.
struct CopiedAFewTimes {
  int value = 0;
  static inline int left = 1'000'000;

  CopiedAFewTimes() = default;
  explicit CopiedAFewTimes(int of) : value(of) {}
  CopiedAFewTimes(const CopiedAFewTimes& other) : value(other.value) {
    if (left-- == 0) throw std::bad_alloc();
  }
  CopiedAFewTimes& operator=(const CopiedAFewTimes&) = default;
  bool operator==(const CopiedAFewTimes& other) const { return value == other.value; }
};

TEST(MostlyAlike, HoldsWhatItHeldWhenThereIsNoMemory) {
  bool is_there = false;
  for (int copies = 0; copies < 20; ++copies) {
    MostlyAlike<CopiedAFewTimes> list;
    for (std::size_t i = 0; i < 4; ++i) list.push_back(CopiedAFewTimes(7), i);
    CopiedAFewTimes::left = copies;
    is_there = true;
    try {
      list.push_back(CopiedAFewTimes(8), 4);
    } catch (const std::bad_alloc&) {
      is_there = false;
    }
    CopiedAFewTimes::left = 1'000'000;
    EXPECT_EQ(list.back().value, is_there ? 8 : 7) << copies;
    const std::size_t kept = list.bytes() / sizeof(CopiedAFewTimes);
    EXPECT_TRUE(is_there ? kept == 5 : kept == 0 || kept == 4) << copies << ": " << kept;
    list.shorten(4);
    EXPECT_EQ(list.back().value, 7);
  }
  EXPECT_TRUE(is_there) << "after enough copies";
}

}  // namespace
}  // namespace penstock
