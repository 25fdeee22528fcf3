// Datasets that are read where they were made, by cursors.
#include "lib/exec/inner_dataset.h"

#include <string>
#include <vector>

#include "tests/engine/support.h"
#include "tests/support/heap_bytes.h"
#include "tests/support/under_sanitizer.h"

namespace penstock {
namespace {

using namespace testing;
using exec::InnerDataset;
using exec::Slots;

Slots read_all(InnerDataset& dataset, std::size_t at_once) {
  Context context({}, 1);
  Slots slots;
  while (dataset.pull(slots, at_once, context, {})) {
  }
  return slots;
}

template <class T> InnerDataset opened(const Dataset<T>& dataset, const Stamp& element = {}) {
  return InnerDataset(dataset.node(), element, 7, 1);
}

TEST(InnerDataset, OwnsWhatItGives) {
  Slots slots;
  {
    auto dataset = opened(from_vector(std::vector<std::string>{"one", "a text that is longer than others"}));
    slots = read_all(dataset, 8);
  }
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_FALSE(slots.back().value.refers());
  EXPECT_EQ(slots.back().value.get<std::string>(), "a text that is longer than others");
}

TEST(InnerDataset, GivesNoMoreThanIsAskedFor) {
  const auto many =
      range(5).flat_map([](std::int64_t x) { return std::vector<std::int64_t>(7, x); }).window(2, {.shift = 1});
  for (const std::size_t most : {1u, 2u, 5u}) {
    auto dataset = opened(many);
    Context context({}, 1);
    Slots slots;
    for (bool more = true; more;) {
      const std::size_t before = slots.size();
      more = dataset.pull(slots, most, context, {});
      EXPECT_LE(slots.size() - before, most);
    }
    EXPECT_EQ(slots.size(), 35u);
  }
}

TEST(InnerDataset, GivesStampsOfTheElementThatItWasMadeOf) {
  const Stamp element{.epoch = 3, .pass = 5, .sequence = 8, .source = 1, .ordinal = 44, .sub = 2};
  auto dataset = opened(range(3), element);
  std::vector<std::uint64_t> subs;
  for (const Slot& slot : read_all(dataset, 2)) {
    EXPECT_EQ(slot.stamp.epoch, 3u);
    EXPECT_EQ(slot.stamp.pass, 5u);
    EXPECT_EQ(slot.stamp.sequence, 8u);
    EXPECT_EQ(slot.stamp.source, 1u);
    EXPECT_EQ(slot.stamp.ordinal, 44);
    subs.push_back(slot.stamp.sub);
  }
  std::ranges::sort(subs);
  EXPECT_EQ(std::ranges::adjacent_find(subs), subs.end());
}

// A filter changes nothing in what is drawn behind it.
TEST(InnerDataset, GivesStampsThatDoNotDependOnWhatWasDropped) {
  auto all = opened(range(4).map([](std::int64_t x) { return x; }));
  auto last = opened(range(4).filter([](std::int64_t x) { return x == 3; }));
  EXPECT_EQ(read_all(last, 1).front().stamp.sub, read_all(all, 4).back().stamp.sub);
}

TEST(InnerDataset, TakesTwoKibibytesAtMostForFourOps) {
  if (UNDER_SANITIZER) GTEST_SKIP() << "its allocator has books of its own";
  constexpr std::size_t kDatasets = 1'000;
  const auto dataset = range(100)
                           .map([](std::int64_t x) { return x; })
                           .filter([](std::int64_t) { return true; })
                           .shuffle(2, {.seed = 1});
  Context context({}, 1);
  std::vector<std::unique_ptr<InnerDataset>> open(kDatasets);
  const std::size_t before = test::heap_bytes();
  for (auto& one : open) {
    one = std::make_unique<InnerDataset>(dataset.node(), Stamp(), 7, 1);
    Slots slots;
    one->pull(slots, 1, context, {});
  }
  EXPECT_LE((test::heap_bytes() - before) / kDatasets, 2048u);
}

}  // namespace
}  // namespace penstock
