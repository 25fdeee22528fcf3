#include "lib/core/element_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace penstock {
namespace {

constexpr auto kSlot = static_cast<std::int64_t>(sizeof(Slot));

Slot slot_of(std::int64_t value, std::int64_t bytes) {
  Slot slot(Element(value),
            {.epoch = 3, .pass = 2, .sequence = 9, .ordinal = value, .sub = static_cast<std::uint64_t>(7 * value)});
  slot.set_bytes(bytes + kSlot);
  return slot;
}

TEST(ElementStore, GivesBackWhatItWasGivenWithItsStamp) {
  ElementStore store;
  for (std::int64_t i = 0; i < 3000; ++i) store.push_back({slot_of(i, 8), 5 + i});
  EXPECT_EQ(store.size(), 3000u);
  for (std::int64_t i = 2999; i >= 0; --i) {
    Slot slot = store.take_last().slot;
    EXPECT_EQ(slot.stamp.epoch, 3u);
    EXPECT_EQ(slot.stamp.pass, 2u);
    EXPECT_EQ(slot.stamp.sequence, 9u);
    EXPECT_EQ(slot.stamp.ordinal, i);
    EXPECT_EQ(slot.stamp.sub, static_cast<std::uint64_t>(7 * i));
    EXPECT_EQ(slot.bytes(), 8 + kSlot);
    EXPECT_EQ(slot.take<std::int64_t>(), i);
  }
  EXPECT_TRUE(store.empty());
  EXPECT_EQ(store.bytes(), 0);
}

TEST(ElementStore, TakesSeventyTwoBytesForANumber) {
  ElementStore store;
  for (std::int64_t i = 0; i < 100; ++i) store.push_back({slot_of(i, 8), 5 + i});
  EXPECT_EQ(store.bytes(), 100 * 72);
  EXPECT_EQ(ElementStore::bytes_of_place(), 64);
}

// Sizes that differ from some element on are those of their elements, wherever these move to.
TEST(ElementStore, KnowsEachSizeWhereTheyDiffer) {
  ElementStore store;
  std::int64_t sum = 0;
  constexpr std::int64_t kPlace = 64 + 24;
  const auto size = [](std::int64_t i) { return i < 50 ? 8 : 8 + i; };
  for (std::int64_t i = 0; i < 100; ++i) {
    store.push_back({slot_of(i, size(i))});
    sum += size(i) + kPlace;
  }
  EXPECT_EQ(store.bytes(), sum);
  store.swap_with_last(3);
  store.swap_with_last(70);
  std::vector<bool> seen(100);
  while (!store.empty()) {
    Slot slot = store.take_last().slot;
    const auto value = slot.take<std::int64_t>();
    EXPECT_EQ(slot.bytes(), size(value) + kSlot);
    seen[static_cast<std::size_t>(value)] = true;
    sum -= size(value) + kPlace;
    EXPECT_EQ(store.bytes(), sum);
  }
  EXPECT_EQ(seen, std::vector<bool>(100, true));
}

// A shuffle behind a repeat holds elements of several passes at once.
TEST(ElementStore, KnowsEachPassWhereTheyDiffer) {
  ElementStore store;
  const auto sequence = [](std::int64_t i) { return std::uint64_t{1} << 47 | static_cast<std::uint32_t>(i / 1000); };
  for (std::int64_t i = 0; i < 2500; ++i) {
    Slot slot = slot_of(i, 8);
    slot.stamp.pass = static_cast<std::uint32_t>(i / 1000);
    slot.stamp.sequence = sequence(i) & 0xFFFF'FFFF'FFFF;
    store.push_back({std::move(slot)});
  }
  store.swap_with_last(10);
  while (!store.empty()) {
    Slot slot = store.take_last().slot;
    const auto value = slot.take<std::int64_t>();
    EXPECT_EQ(slot.stamp.ordinal, value);
    EXPECT_EQ(slot.stamp.pass, value / 1000);
    EXPECT_EQ(slot.stamp.sequence, sequence(value));
  }
  EXPECT_EQ(store.bytes(), 0);
}

// A shuffle behind a mix holds elements of several sources at once.
TEST(ElementStore, KnowsEachSourceWhereTheyDiffer) {
  ElementStore store;
  const auto source = [](std::int64_t i) { return static_cast<std::uint16_t>(i < 10 ? 0 : i % 5); };
  for (std::int64_t i = 0; i < 100; ++i) {
    Slot slot = slot_of(i, 8);
    slot.stamp.source = source(i);
    store.push_back({std::move(slot)});
  }
  EXPECT_EQ(store.bytes(), 100 * (72 + 2));
  store.swap_with_last(3);
  store.swap_with_last(70);
  while (!store.empty()) {
    Slot slot = store.take_last().slot;
    EXPECT_EQ(slot.stamp.source, source(slot.stamp.ordinal));
    EXPECT_EQ(slot.stamp.epoch, 3u);
  }
  EXPECT_EQ(store.bytes(), 0);
}

TEST(ElementStore, BeginsAnewWithAnotherPass) {
  ElementStore store;
  store.push_back({slot_of(1, 8)});
  store.push_back({slot_of(2, 100)});
  store.clear();
  EXPECT_EQ(store.bytes(), 0);
  Slot later = slot_of(5, 20);
  later.stamp.pass = 4;
  store.push_back({std::move(later)});
  EXPECT_EQ(store.bytes(), 20 + 64);
  EXPECT_EQ(store.take_last().slot.stamp.pass, 4u);
}

TEST(ElementStore, LetsItsElementsGo) {
  const auto value = std::make_shared<int>(1);
  {
    ElementStore store;
    for (int i = 0; i < 10; ++i) store.push_back({Slot(Element(value), {})});
    EXPECT_EQ(value.use_count(), 11);
    store.take_last();
    EXPECT_EQ(value.use_count(), 10);
    store.clear();
    EXPECT_EQ(value.use_count(), 1);
    store.push_back({Slot(Element(value), {})});
  }
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace penstock
